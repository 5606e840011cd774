package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// VerifyWebhook takes the raw bytes of the request, before any JSON parser touched them,
// the X-Service-Signature header, and the secret (whsec_…).
func VerifyWebhook(body []byte, header, secret string) bool {
	var t string
	var signatures []string
	for _, part := range strings.Split(header, ",") {
		if value, found := strings.CutPrefix(part, "t="); found {
			t = value
		} else if value, found := strings.CutPrefix(part, "v1="); found {
			signatures = append(signatures, value)
		}
	}
	at, err := strconv.ParseInt(t, 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(t + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	for _, signature := range signatures {
		given, err := hex.DecodeString(signature)
		if err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}
