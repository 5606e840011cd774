package sluice

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
)

// TokenHandler is the endpoint where your pages get their upload tokens. The Sender token stays in your backend. The
// function returns what the user may upload, or nil if they may not. Check the session, never what the body claims.
func (c *Client) TokenHandler(authorize func(*http.Request) (*IssueTokenFields, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			problem(w, http.StatusMethodNotAllowed, "method_not_allowed", "Request a token with POST")
			return
		}
		token, err := c.issueFor(r, authorize)
		switch {
		case err != nil:
			// The user is not told why no token is available; your log is.
			slog.ErrorContext(r.Context(), "No upload token", "error", err)
			notIssued(w, err)
		case token == nil:
			problem(w, http.StatusForbidden, "forbidden", "Uploading is not allowed")
		default:
			respond(w, http.StatusOK, "application/json", token)
		}
	})
}

func (c *Client) issueFor(
	r *http.Request, authorize func(*http.Request) (*IssueTokenFields, error),
) (*IssueTokenResult, error) {
	grant, err := authorize(r)
	if err != nil || grant == nil {
		return nil, err
	}
	return c.IssueToken(r.Context(), *grant)
}

func notIssued(w http.ResponseWriter, err error) {
	failed, ok := errors.AsType[*Error](err)
	if ok && (failed.Code == "no_answer" || failed.Code == "rate_limited" || failed.Code == "unavailable") {
		w.Header().Set("Retry-After", "5")
		problem(w, http.StatusServiceUnavailable, "unavailable", "No token is available at the moment")
		return
	}
	problem(w, http.StatusInternalServerError, "internal", "No token is available")
}

func problem(w http.ResponseWriter, status int, code, title string) {
	body := map[string]any{"type": "about:blank", "title": title, "status": status, "code": code}
	respond(w, status, "application/problem+json", body)
}

func respond(w http.ResponseWriter, status int, contentType string, body any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}
