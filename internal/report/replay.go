package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxReport bounds a saved report in bytes. The snapshot of a host with
// hundreds of ports is a few megabytes.
const MaxReport = 64 << 20

// ErrNotReport is what Replay says of text that is no report at all.
var ErrNotReport = errors.New("not a report: want the JSON document of --json or the lines of --format jsonl")

// Replay reads a saved report, a JSON document or a jsonl stream, into h. A
// stream that was cut off is shown as far as it goes and then closed as
// interrupted.
func Replay(r io.Reader, h Handler) error {
	text, err := io.ReadAll(io.LimitReader(r, MaxReport+1))
	if err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	if len(text) > MaxReport {
		return fmt.Errorf("read report: longer than %d MiB", MaxReport>>20)
	}
	var probe struct {
		SchemaVersion *string `json:"schema_version"`
		Run           *Run    `json:"run"`
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&probe); err != nil {
		if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
			return fmt.Errorf("read report: %s", position(text, err))
		}
		return fmt.Errorf("read report: %w: %s", ErrNotReport, position(text, err))
	}
	switch {
	case probe.Run != nil:
		if err := readable(probe.Run.SchemaVersion); err != nil {
			return err
		}
		return replayStream(text, h)
	case probe.SchemaVersion != nil:
		if err := readable(*probe.SchemaVersion); err != nil {
			return err
		}
		return replayDocument(text, h)
	}
	return fmt.Errorf("read report: %w", ErrNotReport)
}

// readable refuses what a later major version wrote: its fields may mean
// something else.
func readable(version string) error {
	major, _, _ := strings.Cut(SchemaVersion, ".")
	if m, _, _ := strings.Cut(version, "."); m != major {
		return fmt.Errorf("read report: schema version %q, this program reads %s.x", version, major)
	}
	return nil
}

func replayDocument(text []byte, h Handler) error {
	var d Document
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("read report: %s", position(text, err))
	}
	ms := d.messages()
	for _, m := range ms {
		if err := complete(m); err != nil {
			return err
		}
	}
	return send(ms, h)
}

// complete refuses a message that lacks what no reader can do without.
func complete(m Message) error {
	switch {
	case m.Summary != nil && m.Summary.Status == "":
		// A report without a verdict is not a healthy one.
		return errors.New("read report: it has no summary.status")
	case m.Result != nil && m.Result.Layer == 0:
		return fmt.Errorf("read report: check %q has no layer", m.Result.ID)
	case m.Diagnosis != nil && m.Diagnosis.Layer == 0:
		return fmt.Errorf("read report: diagnosis %q has no layer", m.Diagnosis.Code)
	}
	return nil
}

func replayStream(text []byte, h Handler) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	var f Fold // knows what a cut stream's summary is
	for {
		var m Message
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read report: %s", position(text, err))
		}
		if err := complete(m); err != nil {
			return err
		}
		if err := m.Send(&f); err != nil {
			return err
		}
		if err := m.Send(h); err != nil {
			return err
		}
		if m.Summary != nil {
			return nil
		}
	}
	had := f.doc.Error != nil
	d := f.Document()
	if !had {
		if err := h.Error(d.Error); err != nil {
			return err
		}
	}
	return h.Summary(&d.Summary)
}

// position says on which line a JSON error is.
func position(text []byte, err error) string {
	offset := int64(-1)
	var syn *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syn):
		offset = syn.Offset
	case errors.As(err, &typ):
		offset = typ.Offset
	case errors.Is(err, io.EOF):
		return "it is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset = int64(len(text))
	}
	if offset < 0 || offset > int64(len(text)) {
		return err.Error()
	}
	return fmt.Sprintf("line %d: %v", 1+bytes.Count(text[:offset], []byte("\n")), err)
}
