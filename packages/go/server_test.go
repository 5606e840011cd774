package sluice_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.example/sluice"
)

// Contract tests against a running server, whose keys are in the environment.
var (
	pipeID      = os.Getenv("SLUICE_PIPE_ID")
	dataStoreID = os.Getenv("SLUICE_DATA_STORE_ID")
)

func connect(t *testing.T, options sluice.Options) *sluice.Client {
	t.Helper()
	if pipeID == "" {
		t.Skip("SLUICE_PIPE_ID is not set.")
	}
	return must(sluice.New(options))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func codeOf(err error) string {
	if failed, ok := errors.AsType[*sluice.Error](err); ok {
		return failed.Code
	}
	return fmt.Sprint(err)
}

func TestListsTheItemsOfAllPages(t *testing.T) {
	client := connect(t, sluice.Options{})
	for n := range 3 {
		must(client.CreateSender(t.Context(), sluice.CreateSenderFields{Name: fmt.Sprint("Go ", n)}))
	}
	var found []string
	for sender, err := range client.ListSenders(t.Context(), sluice.ListSendersQuery{Limit: 2}) {
		if name := must(sender, err).Name; strings.HasPrefix(name, "Go ") && len(found) < 3 {
			found = append(found, name)
		}
	}
	if got := strings.Join(found, ", "); got != "Go 2, Go 1, Go 0" {
		t.Errorf("got %s", got)
	}
	stranger := connect(t, sluice.Options{AccountKey: "ak_nobody"})
	for _, err := range stranger.ListSenders(t.Context(), sluice.ListSendersQuery{}) {
		if codeOf(err) != "account_key_invalid" {
			t.Errorf("got %v", err)
		}
	}
}

func TestCreatesOnlyOneThingWithOneIdempotencyKey(t *testing.T) {
	client, key := connect(t, sluice.Options{}), sluice.WithIdempotencyKey(rand.Text())
	fields := sluice.CreateSenderFields{Name: "Once"}
	first := must(client.CreateSender(t.Context(), fields, key))
	second := must(client.CreateSender(t.Context(), fields, key))
	if first.ID != second.ID {
		t.Errorf("got %s and %s", first.ID, second.ID)
	}
}

func TestReportsACodeAndTheInvalidFields(t *testing.T) {
	client := connect(t, sluice.Options{})
	_, err := client.ShowPipe(t.Context(), "pipe_/../x")
	gone, ok := errors.AsType[*sluice.Error](err)
	if !ok || gone.Code != "pipe_not_found" || gone.Status != 404 || gone.RequestID == "" {
		t.Errorf("got %+v", err)
	}
	_, err = client.CreatePipe(t.Context(), sluice.CreatePipeFields{DataStoreID: dataStoreID})
	wrong, ok := errors.AsType[*sluice.Error](err)
	if !ok || wrong.Code != "invalid_request" || wrong.Fields[0].Field != "name" {
		t.Errorf("got %+v", err)
	}
}

func TestSetsFieldsToNullAndToZero(t *testing.T) {
	client := connect(t, sluice.Options{})
	fields := sluice.CreatePipeFields{
		Name: "Changed", DataStoreID: dataStoreID, MaxFileBytes: 5, VerifyContent: new(true),
	}
	made := must(client.CreatePipe(t.Context(), fields))
	changed := must(client.UpdatePipe(t.Context(), made.ID, sluice.UpdatePipeFields{VerifyContent: new(false)}))
	if changed.VerifyContent || changed.MaxFileBytes == nil || *changed.MaxFileBytes != 5 {
		t.Errorf("got %+v", changed)
	}
	changes := sluice.UpdatePipeFields{MaxFileBytes: sluice.Null[int64]()}
	if changed = must(client.UpdatePipe(t.Context(), made.ID, changes)); changed.MaxFileBytes != nil {
		t.Errorf("got %d", *changed.MaxFileBytes)
	}
}

func TestShowsNoSecret(t *testing.T) {
	options := sluice.Options{BaseURL: "http://127.0.0.1:1/geheim", AccountKey: "ak_geheim", MaxRetries: -1}
	away, stranger := connect(t, options), connect(t, sluice.Options{AccountKey: "ak_geheim"})
	_, err := away.ShowWorkspace(t.Context())
	if codeOf(err) != "no_answer" || !strings.HasPrefix(err.Error(), "Sluice at 127.0.0.1:1 did not respond: ") {
		t.Errorf("got %v", err)
	}
	_, refused := stranger.ShowWorkspace(t.Context())
	for _, shown := range []any{stranger, *stranger, err, refused} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
			if text := fmt.Sprintf(verb, shown); strings.Contains(text, "ak_geheim") {
				t.Errorf("%s shows %s", verb, text)
			}
		}
	}
}

func TestRequiresItsSettingsAndNamesMissingOnes(t *testing.T) {
	for _, name := range []string{"SLUICE_URL", "SLUICE_ACCOUNT_KEY"} {
		t.Setenv(name, "")
	}
	if _, err := sluice.New(sluice.Options{}); err == nil || !strings.Contains(err.Error(), "SLUICE_URL") {
		t.Errorf("got %v", err)
	}
	_, err := must(sluice.New(sluice.Options{BaseURL: "http://127.0.0.1:1"})).ShowWorkspace(t.Context())
	if err == nil || !strings.Contains(err.Error(), "SLUICE_ACCOUNT_KEY") {
		t.Errorf("got %v", err)
	}
}

func TestCreatesShowsAndCancelsAnImport(t *testing.T) {
	client := connect(t, sluice.Options{})
	source := &sluice.CreatePipeFieldsSource{URL: new(true)}
	fields := sluice.CreatePipeFields{Name: "Imports", DataStoreID: dataStoreID, Source: source}
	pipe := must(client.CreatePipe(t.Context(), fields))
	address := "https://source.invalid/films/one.mp4?signature=geheim"
	made := must(client.CreateImport(t.Context(), sluice.CreateImportFields{PipeID: pipe.ID, URL: address}))
	shown := must(client.ShowImport(t.Context(), made.ID))
	if shown.Filename != "one.mp4" || shown.Protocol != "url" || strings.Contains(shown.Import.URL, "geheim") {
		t.Errorf("got %+v", shown)
	}
	if err := client.CancelImport(t.Context(), made.ID); err != nil {
		t.Error(err)
	}
	if file := must(client.ShowFile(t.Context(), made.ID)); file.Status != "canceled" {
		t.Errorf("got %s", file.Status)
	}
}

func written(t *testing.T, content []byte) (file, journal string) {
	folder := t.TempDir()
	file = filepath.Join(folder, "go.bin")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, filepath.Join(folder, "journal")
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func TestUploadsAFileAndUnwrapsItsWebhook(t *testing.T) {
	client := connect(t, sluice.Options{})
	file, journal := written(t, []byte(rand.Text()))
	fields := sluice.CreateUploadFields{PipeID: pipeID, Filename: "go.bin", Subject: "ada"}
	id := must(client.UploadFile(t.Context(), file, fields, journal))
	shown := must(client.ShowFile(t.Context(), id))
	if *shown.Checksum != *shown.DeclaredChecksum || exists(journal) {
		t.Errorf("got %+v", shown)
	}
	delivery := must(client.ShowDelivery(t.Context(), delivered(t, client, id)))
	header := http.Header{}
	for name, value := range delivery.Attempts[0].RequestHeaders {
		header.Set(name, value)
	}
	event := must(sluice.Unwrap([]byte(delivery.RequestBody), header, os.Getenv("SLUICE_WEBHOOK_SECRET")))
	data, ok := event.Data.(*sluice.FileStatusChangedData)
	if !ok || data.FileID != id || *data.Subject != "ada" {
		t.Errorf("got %+v", event)
	}
}

func delivered(t *testing.T, client *sluice.Client, fileID string) string {
	query := sluice.ListDeliveriesQuery{FileID: fileID, State: "delivered"}
	for range 300 {
		for delivery, err := range client.ListDeliveries(t.Context(), query) {
			return must(delivery, err).ID
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("The webhook was not delivered.")
	return ""
}

func TestUploadsAnEmptyFile(t *testing.T) {
	client := connect(t, sluice.Options{})
	file, _ := written(t, nil)
	id := must(client.UploadFile(t.Context(), file, sluice.CreateUploadFields{PipeID: pipeID, Filename: "empty"}, ""))
	if shown := must(client.ShowFile(t.Context(), id)); *shown.Size != 0 {
		t.Errorf("got %d bytes", *shown.Size)
	}
}

func TestSendsAFileWhoseLengthWasLeftOpen(t *testing.T) {
	client := connect(t, sluice.Options{})
	made := must(client.CreateUpload(t.Context(), sluice.CreateUploadFields{PipeID: pipeID, Filename: "open.bin"}))
	file, _ := written(t, []byte("12345"))
	if err := client.SendFile(t.Context(), file, made.UploadURL, made.Token); err != nil {
		t.Fatal(err)
	}
	if shown := must(client.ShowFile(t.Context(), made.File.ID)); *shown.Size != 5 {
		t.Errorf("got %d bytes", *shown.Size)
	}
	longer, _ := written(t, []byte("123456"))
	err := client.SendFile(t.Context(), longer, made.UploadURL, made.Token)
	if err == nil || !strings.Contains(err.Error(), "a file of 5 bytes, but this one has 6") {
		t.Errorf("got %v", err)
	}
}

func TestForgetsAnUploadThatCannotBeContinued(t *testing.T) {
	client := connect(t, sluice.Options{})
	fields := sluice.CreateUploadFields{PipeID: pipeID, Filename: "small.bin"}
	file, journal := written(t, []byte("12345"))
	for code, checksum := range map[string]string{"upload_gone": "", "checksum_mismatch": "crc32:00000000"} {
		fields := fields
		fields.Size, fields.Checksum = new(int64(5)), checksum
		made := must(client.CreateUpload(t.Context(), fields))
		if checksum == "" {
			must(client.CancelFile(t.Context(), made.File.ID))
		}
		kept := fmt.Sprintf(`{"uploadUrl":%q,"token":%q}`, made.UploadURL, made.Token)
		if err := os.WriteFile(journal, []byte(kept), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := client.UploadFile(t.Context(), file, fields, journal); codeOf(err) != code || exists(journal) {
			t.Errorf("got %v instead of %s", err, code)
		}
	}
	must(client.UploadFile(t.Context(), file, fields, journal))
}

func TestEndsImmediatelyWhenCanceledWhileWaiting(t *testing.T) {
	connect(t, sluice.Options{})
	away := must(sluice.New(sluice.Options{BaseURL: "http://127.0.0.1:1"}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := away.ShowWorkspace(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestIssuesTokensForPermittedUploadsOnly(t *testing.T) {
	grant := func(r *http.Request) (*sluice.IssueTokenFields, error) {
		if r.Header.Get("User") == "" {
			return nil, nil
		}
		return &sluice.IssueTokenFields{PipeID: pipeID, MaxBytes: 5}, nil
	}
	for _, one := range []struct {
		options sluice.Options
		method  string
		user    string
		status  int
		told    string
	}{
		{sluice.Options{}, "POST", "ada", 200, `"token":"tmp_`},
		{sluice.Options{}, "POST", "", 403, `"code":"forbidden"`},
		{sluice.Options{}, "GET", "ada", 405, `"code":"method_not_allowed"`},
		{sluice.Options{SenderToken: "sk_nobody"}, "POST", "ada", 500, `"code":"internal"`},
		{sluice.Options{BaseURL: "http://127.0.0.1:1", MaxRetries: -1}, "POST", "ada", 503, `"code":"unavailable"`},
	} {
		r := httptest.NewRequest(one.method, "/api/upload-token", nil)
		r.Header.Set("User", one.user)
		w := httptest.NewRecorder()
		connect(t, one.options).TokenHandler(grant).ServeHTTP(w, r)
		if w.Code != one.status || !strings.Contains(w.Body.String(), one.told) || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("got %d %s instead of %d", w.Code, w.Body, one.status)
		}
	}
}
