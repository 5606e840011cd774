package sluice

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Event is the body of a webhook. Data is a pointer to the data of its kind, such as *FileStatusChangedData, or a
// json.RawMessage if this version does not know the kind.
type Event struct {
	ID        string
	Kind      string
	Timestamp time.Time
	// Only true for test events.
	Test bool
	Data any
}

// VerificationError is the error for a webhook that is not signed with the secret. The reason is for your log: the sender
// only needs to know that you rejected the webhook.
type VerificationError struct {
	// One of "missing", "malformed", "too_old", "too_new" and "mismatch".
	Reason string
}

var reasons = map[string]string{
	"missing":   "the webhook has no signature",
	"malformed": "the webhook's signature cannot be read",
	"too_old":   "the webhook was signed more than five minutes ago",
	"too_new":   "the webhook was signed more than five minutes ahead of this clock",
	"mismatch":  "the webhook's signature does not match this body and this secret",
}

func (e *VerificationError) Error() string { return "sluice: " + reasons[e.Reason] }

const (
	tolerance = 5 * time.Minute
	// A rotation produces two signatures. Any after the fifth are ignored.
	maxSignatures = 5
)

// Unwrap returns the event of a webhook with a valid signature (Standard Webhooks); otherwise, the error is a
// *VerificationError. The body is the raw body, before any parser touched it. Pass several secrets while one replaces
// another.
func Unwrap(body []byte, header http.Header, secrets ...string) (*Event, error) {
	if err := verify(body, header, secrets, time.Now()); err != nil {
		return nil, err
	}
	var envelope struct {
		ID, Event string
		Timestamp time.Time
		Test      bool
		Data      json.RawMessage
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return nil, err
	}
	event := &Event{envelope.ID, envelope.Event, envelope.Timestamp, envelope.Test, eventData(envelope.Event)}
	if event.Data == nil {
		event.Data = envelope.Data
		return event, nil
	}
	return event, json.Unmarshal(envelope.Data, event.Data)
}

// UnwrapQuestion returns the question of a decision hook, verified like a webhook: a *BeforeCreateQuestion or a
// *BeforeCompleteQuestion.
func UnwrapQuestion(body []byte, header http.Header, secrets ...string) (any, error) {
	if err := verify(body, header, secrets, time.Now()); err != nil {
		return nil, err
	}
	var envelope struct{ Hook string }
	if err := json.Unmarshal(body, &envelope); err != nil {
		return nil, err
	}
	var question any
	switch envelope.Hook {
	case "before_create":
		question = new(BeforeCreateQuestion)
	case "before_complete":
		question = new(BeforeCompleteQuestion)
	default:
		return nil, fmt.Errorf("sluice: there is no decision hook %q", envelope.Hook)
	}
	return question, json.Unmarshal(body, question)
}

func verify(body []byte, header http.Header, secrets []string, now time.Time) error {
	id, t, list := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	if id == "" || t == "" || list == "" {
		return &VerificationError{"missing"}
	}
	at, err := strconv.ParseUint(t, 10, 40)
	var given [][]byte
	for entry := range strings.SplitSeq(list, " ") {
		signature, isV1 := strings.CutPrefix(entry, "v1,")
		if decoded, err := base64.StdEncoding.DecodeString(signature); isV1 && err == nil && len(given) < maxSignatures {
			given = append(given, decoded)
		}
	}
	if err != nil || len(given) == 0 {
		return &VerificationError{"malformed"}
	}
	signed := bytes.Join([][]byte{[]byte(id), []byte(t), body}, []byte("."))
	matches := false
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return errors.New("sluice: a webhook secret is whsec_ followed by base64, as the Pipe shows it")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		expected := mac.Sum(nil)
		for _, signature := range given {
			matches = hmac.Equal(signature, expected) || matches
		}
	}
	switch age := now.Sub(time.Unix(int64(at), 0)); {
	case !matches:
		return &VerificationError{"mismatch"}
	case age > tolerance:
		return &VerificationError{"too_old"}
	case age < -tolerance:
		return &VerificationError{"too_new"}
	}
	return nil
}
