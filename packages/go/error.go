package sluice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// FieldError is an invalid field of a request.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is what the server, or its absence, made of a call. Use Code: it is stable, and a later version may add codes.
// "no_answer": the network or the server was unavailable. "unexpected_answer": the response was not from Sluice.
type Error struct {
	Code    string
	Message string
	// 0 if there was no response.
	Status int
	Fields []FieldError
	// Include it when you contact your administrator.
	RequestID string

	// As asked for by the server, in seconds.
	retryAfter string
	cause      error
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.cause }

// noAnswer has only the host of the address in its message, because the rest may be secret.
func noAnswer(err error, address *url.URL) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	message := fmt.Sprintf("Sluice at %s did not respond: %v", address.Host, err)
	return &Error{Code: "no_answer", Message: message, cause: err}
}

func refusal(answer *http.Response, body []byte) error {
	refused := &Error{
		Code:       "unexpected_answer",
		Message:    fmt.Sprintf("The response had status %d.", answer.StatusCode),
		Status:     answer.StatusCode,
		RequestID:  answer.Header.Get("X-Request-Id"),
		retryAfter: answer.Header.Get("Retry-After"),
	}
	var problem struct {
		Code, Detail string
		Errors       []FieldError
	}
	if json.Unmarshal(body, &problem) == nil && problem.Code != "" {
		refused.Code, refused.Message, refused.Fields = problem.Code, problem.Detail, problem.Errors
	}
	return refused
}

const (
	firstDelay = 500 * time.Millisecond
	maxDelay   = 8 * time.Second
	// If the server asks for a longer delay, the call fails instead of waiting.
	maxRetryAfter = 30 * time.Second
)

// passing are the statuses for which a retry may succeed, in addition to 5xx.
var passing = []int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}

// retryDelay returns how long to wait before the next attempt, and whether there is one.
func retryDelay(attempt int, err error, most time.Duration) (time.Duration, bool) {
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return 0, false
	}
	if failed.Status != 0 && failed.Status < 500 && !slices.Contains(passing, failed.Status) {
		return 0, false
	}
	if seconds, err := strconv.Atoi(failed.retryAfter); err == nil && seconds >= 0 {
		told := time.Duration(seconds) * time.Second
		return told, told <= maxRetryAfter
	}
	ceiling := min(firstDelay<<min(attempt, 10), most)
	return ceiling/2 + rand.N(ceiling/2), true
}

func wait(ctx context.Context, delay time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
		return nil
	}
}
