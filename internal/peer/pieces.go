package peer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrTooMuch is the error of a far end that says more than it may.
var ErrTooMuch = errors.New("more than a far end may say")

// cut hands over b in pieces of at most pieceBytes; more says whether others
// follow. Nothing is one empty piece.
func cut(b []byte, piece func(part []byte, more bool) error) error {
	for {
		n := min(len(b), pieceBytes)
		if err := piece(b[:n], n < len(b)); err != nil {
			return err
		}
		if b = b[n:]; len(b) == 0 {
			return nil
		}
	}
}

// joiner puts pieces together.
type joiner struct {
	buf   bytes.Buffer
	limit int
}

func (j *joiner) add(part []byte) error {
	if j.buf.Len()+len(part) > j.limit {
		return fmt.Errorf("%w: over %d bytes in one", ErrTooMuch, j.limit)
	}
	j.buf.Write(part)
	return nil
}

// take returns what was put together and starts anew.
func (j *joiner) take() []byte {
	b := bytes.Clone(j.buf.Bytes())
	j.buf.Reset()
	return b
}

// pack is gzip of the JSON of v.
func pack(v any) ([]byte, error) {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(z).Encode(v); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// unpack reads what pack made into v. A few bytes of gzip can unfold to
// gigabytes, so the bound is on what comes out.
func unpack(b []byte, v any) error {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxFacts+1))
	switch {
	case err != nil:
		return fmt.Errorf("unpack: %w", err)
	case len(text) > maxFacts:
		return fmt.Errorf("unpack: %w: over %d bytes", ErrTooMuch, maxFacts)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	return nil
}
