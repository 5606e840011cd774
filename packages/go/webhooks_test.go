package sluice

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

var (
	secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x07", 32)))
	other  = "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x08", 32)))
	body   = []byte(`{"id":"1","event":"file.status_changed","data":{"filename":"été 📷.mp4"}}`)
)

func signed(age time.Duration, secrets ...string) http.Header {
	t := fmt.Sprint(time.Now().Add(-age).Unix())
	var signatures []string
	for _, one := range secrets {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "whsec_"))
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "evt_1.%s.%s", t, body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	header := http.Header{}
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", t)
	header.Set("webhook-signature", strings.Join(signatures, " "))
	return header
}

func with(header http.Header, name, value string) http.Header {
	header.Set(name, value)
	return header
}

func TestUnwrapAcceptsAValidSignature(t *testing.T) {
	event, err := Unwrap(body, signed(0, secret), secret)
	if err != nil {
		t.Fatal(err)
	}
	data, ok := event.Data.(*FileStatusChangedData)
	if !ok || event.ID != "1" || data.Filename != "été 📷.mp4" {
		t.Errorf("got %+v", event)
	}
	for _, err := range []error{
		verify(body, signed(0, other, secret), []string{secret}, time.Now()),
		verify(body, signed(0, secret), []string{other, secret}, time.Now()),
	} {
		if err != nil {
			t.Errorf("during a rotation: %v", err)
		}
	}
}

func TestUnwrapKeepsTheDataOfUnknownEvents(t *testing.T) {
	known := body
	defer func() { body = known }()
	body = []byte(`{"event":"file.praised","data":{"by":"ada"}}`)
	event, err := Unwrap(body, signed(0, secret), secret)
	if err != nil || string(event.Data.(json.RawMessage)) != `{"by":"ada"}` {
		t.Errorf("got %+v, %v", event, err)
	}
}

func TestUnwrapRejectsEverythingElse(t *testing.T) {
	for _, one := range []struct {
		reason string
		body   string
		header http.Header
		secret string
	}{
		{"mismatch", string(body), signed(0, secret), other},
		{"mismatch", string(body) + " ", signed(0, secret), secret},
		{"mismatch", string(body), with(signed(0, secret), "webhook-id", "evt_2"), secret},
		{"mismatch", string(body), signed(0, other, other, other, other, other, secret), secret},
		{"missing", string(body), http.Header{}, secret},
		{"malformed", string(body), with(signed(0, secret), "webhook-signature", "v2,AA=="), secret},
		{"malformed", string(body), with(signed(0, secret), "webhook-timestamp", "²"), secret},
		{"too_old", string(body), signed(310*time.Second, secret), secret},
		{"too_new", string(body), signed(-310*time.Second, secret), secret},
	} {
		_, err := Unwrap([]byte(one.body), one.header, one.secret)
		if failed, ok := errors.AsType[*VerificationError](err); !ok || failed.Reason != one.reason {
			t.Errorf("got %v instead of %s", err, one.reason)
		}
	}
	_, err := Unwrap(body, signed(0, secret), "whsec_geheim!")
	if err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("got %v for an unusable secret", err)
	}
}
