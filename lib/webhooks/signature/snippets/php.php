<?php
// $body: file_get_contents('php://input'), before any JSON parser touched it
// $header: $_SERVER['HTTP_X_SERVICE_SIGNATURE']; $secret: whsec_…
function verify_webhook(string $body, string $header, string $secret): bool
{
    $t = preg_match('/(?:^|,)t=(\d+)(?:,|$)/', $header, $match) ? $match[1] : '';
    if ($t === '' || abs(time() - (int) $t) > 300) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $expected = hash_hmac('sha256', $t . '.' . $body, $key);
    preg_match_all('/(?:^|,)v1=([0-9a-f]+)/', $header, $signatures);
    foreach ($signatures[1] as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}
