package hostio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// Serve is the reading child: it answers the ops that come in on r, one after
// another, on w until r ends. Each answer is written before the next op is
// begun, so that the parent knows which op does not come back.
func Serve(ctx context.Context, r io.Reader, w io.Writer, h Host) error {
	if _, err := w.Write(appendFrame(nil, []byte(hello))); err != nil {
		return fmt.Errorf("write greeting: %w", err)
	}
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		frame, err := readFrame(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read op: %w", err)
		}
		id, op, err := parseOp(frame)
		if err != nil {
			return fmt.Errorf("parse op: %w", err)
		}
		res := One(ctx, h, op)
		if len(res.Data) > MaxData {
			res.Data, res.Truncated = res.Data[:MaxData], true
		}
		if _, err := w.Write(appendFrame(nil, appendResult(nil, id, res))); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
}
