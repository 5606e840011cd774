package sluice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"time"
)

const (
	// A connection that is silent for this long is closed.
	silence        = time.Minute
	maxUploadDelay = 30 * time.Second
	// How many attempts in a row may fail without a further byte having arrived: about eight minutes.
	maxFailures = 20
)

var (
	// busy: the server may still be ending an earlier request to the upload.
	busy = []int{http.StatusConflict, http.StatusLocked}
	// ended: the upload can no longer be continued. 460 is a checksum mismatch.
	ended = []int{http.StatusNotFound, http.StatusGone, 460}
)

type begun struct {
	UploadURL string `json:"uploadUrl"`
	Token     string `json:"token"`
}

// UploadFile creates an upload for this file, sends its bytes, and returns the file's id. Size and checksum are added to
// the fields. The journal is the path of a file; with it, a call after the process was killed continues at the byte where
// it stopped: until the file has arrived, the journal contains the upload's address and its token.
func (c *Client) UploadFile(ctx context.Context, file string, fields CreateUploadFields, journal string) (string, error) {
	upload, err := readJournal(journal)
	if err != nil {
		return "", err
	}
	if upload == nil {
		if upload, err = c.begin(ctx, file, fields); err != nil {
			return "", err
		}
		if err := writeJournal(journal, upload); err != nil {
			return "", err
		}
	}
	err = c.SendFile(ctx, file, upload.UploadURL, upload.Token)
	failed, _ := errors.AsType[*Error](err)
	if journal != "" && (err == nil || failed != nil && slices.Contains(ended, failed.Status)) {
		err = errors.Join(err, os.Remove(journal))
	}
	return path.Base(upload.UploadURL), err
}

func (c *Client) begin(ctx context.Context, file string, fields CreateUploadFields) (*begun, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	// The checksum also ties the upload to these bytes, should the file change before it is continued.
	checksum := crc32.NewIEEE()
	size, err := io.Copy(checksum, opened)
	if err != nil {
		return nil, err
	}
	fields.Size = &size
	fields.Checksum = fmt.Sprintf("crc32:%08x", checksum.Sum32())
	created, err := c.CreateUpload(ctx, fields)
	if err != nil {
		return nil, err
	}
	return &begun{created.UploadURL, created.Token}, nil
}

func readJournal(journal string) (*begun, error) {
	text, err := os.ReadFile(journal)
	if journal == "" || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var upload begun
	if json.Unmarshal(text, &upload) != nil || upload.UploadURL == "" {
		return nil, fmt.Errorf("sluice: %s is not a journal of an upload: pass another path", journal)
	}
	return &upload, nil
}

func writeJournal(journal string, upload *begun) error {
	if journal == "" {
		return nil
	}
	text, err := json.Marshal(upload)
	if err != nil {
		return err
	}
	writing := fmt.Sprintf("%s.%d", journal, os.Getpid())
	if err := os.WriteFile(writing, text, 0o600); err != nil {
		return err
	}
	return os.Rename(writing, journal)
}

// SendFile sends a file to an upload that CreateUpload created, continuing at the byte where an earlier attempt stopped,
// in whatever process. It returns an error once the upload is refused, or if nothing arrives for about eight minutes.
func (c *Client) SendFile(ctx context.Context, file, uploadURL, token string) error {
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	sending := &sending{c, opened, info.Size(), uploadURL, token}
	failures, most := 0, int64(-1)
	for {
		start, isDeclared, err := sending.state(ctx)
		if err == nil && start > most {
			failures, most = 0, start
		}
		if err == nil && start == sending.size && isDeclared {
			return nil
		}
		if err == nil {
			start, err = sending.rest(ctx, start, isDeclared)
		}
		if err == nil && start == sending.size {
			return nil
		}
		if err == nil {
			continue
		}
		delay, passes := uploadDelay(failures, err)
		failures++
		if !passes || failures > maxFailures {
			return err
		}
		if err := wait(ctx, delay); err != nil {
			return err
		}
	}
}

func uploadDelay(failures int, err error) (time.Duration, bool) {
	if failed, ok := errors.AsType[*Error](err); ok && slices.Contains(busy, failed.Status) {
		return time.Second, true
	}
	return retryDelay(failures, err, maxUploadDelay)
}

type sending struct {
	client    *Client
	file      *os.File
	size      int64
	uploadURL string
	token     string
}

// state returns the number of bytes that have arrived, and whether the upload's length is known.
func (s *sending) state(ctx context.Context) (int64, bool, error) {
	header, err := s.request(ctx, http.MethodHead, nil, nil)
	if failed, ok := errors.AsType[*Error](err); ok && slices.Contains(ended, failed.Status) {
		// A response to HEAD has no body.
		failed.Code, failed.Message = "upload_gone", "The upload no longer exists. Create a new one."
	}
	if err != nil {
		return 0, false, err
	}
	length := header.Get("Upload-Length")
	if length != "" && length != strconv.FormatInt(s.size, 10) {
		return 0, false, fmt.Errorf("sluice: the upload is for a file of %s bytes, but this one has %d", length, s.size)
	}
	offset, err := offsetOf(header)
	return offset, length != "", err
}

func (s *sending) rest(ctx context.Context, start int64, isDeclared bool) (int64, error) {
	header := http.Header{
		"Content-Type":  {"application/offset+octet-stream"},
		"Upload-Offset": {strconv.FormatInt(start, 10)},
	}
	if !isDeclared {
		header.Set("Upload-Length", strconv.FormatInt(s.size, 10))
	}
	body := io.NewSectionReader(s.file, start, s.size-start)
	answer, err := s.request(ctx, http.MethodPatch, header, body)
	if err != nil {
		return 0, err
	}
	return offsetOf(answer)
}

func (s *sending) request(
	ctx context.Context, method string, header http.Header, body *io.SectionReader,
) (http.Header, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(silence, func() { cancel(errors.New("the connection timed out")) })
	defer timer.Stop()
	req, err := http.NewRequestWithContext(ctx, method, s.uploadURL, nil)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Tus-Resumable", "1.0.0")
	if body != nil && body.Size() > 0 {
		req.Body = io.NopCloser(watched{body, timer})
		req.ContentLength = body.Size()
	}
	_, answer, err := s.client.do(req)
	return answer, err
}

// watched postpones the timeout with each read.
type watched struct {
	io.Reader
	timer *time.Timer
}

func (w watched) Read(chunk []byte) (int, error) {
	w.timer.Reset(silence)
	return w.Reader.Read(chunk)
}

func offsetOf(header http.Header) (int64, error) {
	offset, err := strconv.ParseInt(header.Get("Upload-Offset"), 10, 64)
	if err != nil {
		return 0, &Error{Code: "unexpected_answer", Message: "The response was not from Sluice.", Status: http.StatusOK}
	}
	return offset, nil
}
