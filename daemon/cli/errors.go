package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"quern/ipc"
	"quern/ipc/client"
)

// exitError chooses the exit code. With a nil err nothing is said.
type exitError struct {
	code int
	err  error
	hint string // what to do about it
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	if e.hint == "" {
		return e.err.Error()
	}
	return e.err.Error() + " (" + e.hint + ")"
}

func (e *exitError) Unwrap() error { return e.err }

// usagef makes a usage error: exit code 2.
func usagef(hint, format string, args ...any) error {
	return &exitError{code: ExitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

// failuref makes an error with exit code 4 and a hint.
func failuref(hint, format string, args ...any) error {
	return &exitError{code: ExitFailure, err: fmt.Errorf(format, args...), hint: hint}
}

// unreachable makes an error with exit code 3.
func unreachable(hint, format string, args ...any) error {
	return &exitError{code: ExitUnreachable, err: fmt.Errorf(format, args...), hint: hint}
}

// asUsage gives the errors of the argument parser their exit code.
func asUsage(err error) error {
	var e *exitError
	if errors.As(err, &e) {
		return err
	}
	return &exitError{code: ExitUsage, err: err, hint: "quern help shows how"}
}

// serverExit maps the daemon's error codes to exit codes; others are failures.
var serverExit = map[int]int{
	ipc.CodeBadQuery:      ExitUsage,
	ipc.CodeInvalidParams: ExitUsage,
	ipc.CodeShuttingDown:  ExitUnreachable,
}

// exitCode tells the exit code of err.
func exitCode(err error) int {
	var e *exitError
	var se *ipc.Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &e):
		return e.code
	case errors.As(err, &se):
		if code, ok := serverExit[se.Code]; ok {
			return code
		}
	case lostDaemon(err):
		return ExitUnreachable
	}
	return ExitFailure
}

// lostDaemon tells whether err means that no daemon is at the other end (any
// more).
func lostDaemon(err error) bool {
	return errors.Is(err, client.ErrNotRunning) || errors.Is(err, client.ErrConnectionLost)
}

// explainError adds what to do to errors that come from below.
func explainError(err error) error {
	var e *exitError
	var se *ipc.Error
	switch {
	case errors.As(err, &e):
		return err
	case errors.As(err, &se):
		return &exitError{code: exitCode(err), err: err, hint: serverHint(se)}
	case lostDaemon(err):
		return unreachable("quern status shows whether it runs", "%w", err)
	}
	return err
}

func serverHint(e *ipc.Error) string {
	switch e.Code {
	case ipc.CodeMethodNotFound:
		return "the daemon is of another version: quern stop, then try again"
	case ipc.CodeBusy:
		return "try again in a moment"
	case ipc.CodeShuttingDown:
		return "try again to start a new one"
	case ipc.CodeNotPermitted:
		return "quern init writes a config for a daemon of your own"
	}
	return ""
}

// report prints err, if it is to be printed, and returns its exit code.
func (a *app) report(ctx context.Context, err error) int {
	if err != nil && ctx.Err() != nil && !errors.As(err, new(*exitError)) {
		err = &exitError{code: ExitFailure, err: errors.New("interrupted")}
	}
	err = explainError(orNil(err))
	if err != nil && err.Error() != "" {
		a.say("%v%s", err, pointAt(err))
	}
	_ = a.msg.flush() // the usage text, when that was all
	return exitCode(err)
}

// orNil lets a broken pipe end the program as if it had said everything: the
// reader has what it wanted.
func orNil(err error) error {
	if errors.Is(err, errReaderGone) {
		return nil
	}
	return err
}

// say prints one message: quern: what went wrong.
func (a *app) say(format string, args ...any) {
	text := "quern: " + fmt.Sprintf(format, args...)
	fmt.Fprintln(a.msg, safeText(text))
	// The error stream has no one to report its own failure to.
	_ = a.msg.flush()
}

// badQuery carries the query whose parse failed, for pointing at the column.
type badQuery struct {
	query string
	err   error
}

func (b *badQuery) Error() string { return "bad query: " + b.err.Error() }
func (b *badQuery) Unwrap() error { return b.err }

// withQuery remembers the query in an error that says it does not parse.
func withQuery(err error, query string) error {
	if se, ok := errors.AsType[*ipc.Error](err); ok && se.Code == ipc.CodeBadQuery {
		return &badQuery{query: query, err: err}
	}
	return err
}

// pointAt shows the query with a caret below the column of the error, on two
// further lines; it is empty for other errors.
func pointAt(err error) string {
	b, ok := errors.AsType[*badQuery](err)
	if !ok {
		return ""
	}
	se, _ := errors.AsType[*ipc.Error](err)
	var data ipc.QueryErrorData
	if json.Unmarshal(se.Data, &data) != nil || data.Column < 1 {
		return ""
	}
	query := []rune(oneLine(b.query))
	before := min(data.Column-1, len(query))
	pad := strings.Repeat(" ", displayWidth(string(query[:before])))
	return "\n  " + string(query) + "\n  " + pad + "^"
}
