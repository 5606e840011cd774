import type { ErrorCode } from './errors.ts'

/** For each code's page: when it occurs, and what the reader can do. */
export const errorAdvice: Record<ErrorCode, { means: string; remedy: string }> = {
  invalid_json: {
    means: 'The request body is empty or is not JSON in UTF-8.',
    remedy:
      'Send a JSON object. Check for a trailing comma, single quotes, or a body that was encoded twice.',
  },
  invalid_request: {
    means: 'One of the fields in the request is unknown, missing or out of range.',
    remedy: 'See `errors`, which lists each invalid field and what it must be. Nothing was changed.',
  },
  address_not_allowed: {
    means:
      'A webhook or bucket address leads to a private network, or uses a port or scheme that Sluice does not allow.',
    remedy:
      'Use a public `https` address. The administrator can allow internal hosts with `ALLOWED_PRIVATE_HOSTS`.',
  },
  invalid_header: {
    means: 'An upload request header is missing or malformed; the detail names it.',
    remedy:
      'Send the header as specified by TUS 1.0.0. If a library sent it, check for a proxy that strips or changes headers.',
  },
  token_missing: {
    means: 'The request has no `Authorization: Bearer …` header.',
    remedy:
      'Send the Sender token (`sk_…`) to the token API, and a temporary token (`tmp_…`) to the upload address.',
  },
  token_invalid: {
    means: 'The token does not exist, or belongs to something else, such as another Pipe.',
    remedy: 'Request a new token from your backend. Check that its Pipe matches the upload URL.',
  },
  token_revoked: {
    means: 'The token was valid, but it or its Sender has been revoked.',
    remedy:
      'Request a new token from a Sender that has not been revoked. It can continue uploads with the same Sender, Pipe and subject.',
  },
  token_expired: {
    means: 'The temporary token has expired and cannot create new uploads.',
    remedy: 'Request a new token from your backend. Uploads created with the old token can continue.',
  },
  sender_token_exposed: {
    means: 'A Sender token (`sk_…`) was sent to the upload address, where browsers send their tokens.',
    remedy:
      "If a browser had this Sender's token, rotate it now. Browsers get temporary tokens (`tmp_…`) from your backend.",
  },
  account_key_missing: {
    means: 'The management API was called without an account key.',
    remedy: 'Send `Authorization: Bearer ak_…`. Create account keys in the dashboard under Settings.',
  },
  account_key_invalid: {
    means: 'The account key does not exist, or has been revoked.',
    remedy: 'Create a new key in the dashboard under Settings, and make sure to copy all of it.',
  },
  signed_out: {
    means: 'The dashboard session has expired or was ended elsewhere.',
    remedy: 'Sign in again.',
  },
  sign_in_failed: {
    means: 'The email address and password do not match, or there were too many attempts.',
    remedy: 'Try again after a moment, or request a link to set a new password.',
  },
  link_invalid: {
    means: 'The link from an email has already been used, has expired, or is incomplete.',
    remedy: 'Request a new link, and make sure to open the complete link.',
  },
  origin_not_allowed: {
    means: "The uploading page's origin is not on the Pipe's list.",
    remedy: "Add the origin, such as `https://www.example.com`, under the Pipe's restrictions.",
  },
  type_not_allowed: {
    means: "The Pipe or the token does not allow the file's declared media type.",
    remedy: 'Send `filetype` in the upload metadata, or allow the type.',
  },
  type_mismatch: {
    means:
      "The file's first bytes do not match its declared type, and the Pipe verifies the content. The file has failed.",
    remedy:
      'Send the file with its actual type. Text must be UTF-8, and a file without a type can be declared as `application/octet-stream`.',
  },
  quota_exceeded: {
    means: "The file exceeds what is left of this month's transfer quota.",
    remedy:
      'Send a smaller file, or wait for the first day of the next month (UTC). Uploads in progress can still be completed.',
  },
  token_exhausted: {
    means: 'The token was issued with `maxFiles`, and has created that many uploads.',
    remedy: 'Request a new token from your backend.',
  },
  pipe_source_off: {
    means:
      "The Pipe's HTTP (TUS) or URL source is off, so the Pipe accepts no new uploads or imports from that source.",
    remedy:
      "Switch the source on under Connect, Sources on the Pipe's page. Uploads in progress are not affected.",
  },
  data_store_not_ready: {
    means:
      "The Pipe's Data Store has not passed a check or received an upload yet, or it was turned off when the account changed hands.",
    remedy:
      'Check the Data Store in the dashboard, and fix what the check reports. It then accepts uploads. A Data Store that was turned off can be switched on again under Settings.',
  },
  upload_rejected: {
    means:
      "The Pipe owner's backend does not allow the upload, or has rejected its file. `detail` contains the reason.",
    remedy:
      'Show the reason to the person uploading the file. Sending the file again in the same upload returns the same decision. A new upload gets a new decision.',
  },
  batch_sealed: {
    means: "The upload's batch is sealed, so it accepts no more files.",
    remedy:
      'Use a different batch name for further files, or seal a batch only after all its files have been created.',
  },
  upload_is_final: {
    means:
      'This is the address of a final upload, which is joined from partial uploads and accepts no bytes itself.',
    remedy: 'Send the bytes to the partial uploads, and create the final upload when they are complete.',
  },
  upload_has_lanes: {
    means:
      'The file was created with Upload-Lanes. Its own address accepts no bytes while its lanes are incomplete.',
    remedy: 'Send the bytes to the addresses of the lanes. A GET of the address of the file lists them.',
  },
  workspace_suspended: {
    means:
      'The administrator suspended the workspace, or its owner deleted it and can still restore it. It issues no tokens and accepts no bytes.',
    remedy:
      'Everything is kept: uploads continue from their offset once the workspace is restored. Ask a workspace owner, who has been notified of the reason.',
  },
  forbidden: {
    means: 'You do not have permission to do this.',
    remedy: 'Ask a workspace member who has permission.',
  },
  cross_site_request: {
    means:
      "A dashboard form or action was sent from a page on another host: its `Origin` does not match the request's `Host`.",
    remedy:
      'Send it from a page of the same dashboard. If you did, a proxy is changing `Host` or `Origin`: make it forward both unchanged.',
  },
  not_found: {
    means: 'There is nothing at this address, or nothing that you have permission to see.',
    remedy: 'Check the path and the id. Resources in other workspaces return 404, as if they did not exist.',
  },
  pipe_not_found: {
    means: 'There is no such Pipe in your workspace.',
    remedy: 'Copy the id from the Pipe page, and check that the token or key belongs to the same workspace.',
  },
  upload_not_found: {
    means: 'There is no such upload for this token.',
    remedy: 'Start a new upload. A token only continues uploads with its own Sender, Pipe and subject.',
  },
  method_not_allowed: {
    means: 'The address exists, but does not support this method.',
    remedy: "Use a method listed in the response's `Allow` header.",
  },
  conflict: {
    means: 'The request is valid, but conflicts with the current state; the detail says why.',
    remedy: 'Resolve the conflict that the detail names, then send the request again.',
  },
  other_protocol: {
    means: 'The request uses a protocol other than the one that created the upload.',
    remedy:
      'Continue it with the client that started it: TUS, or Resumable Uploads for HTTP. An upload made with a plain request cannot be continued.',
  },
  offset_conflict: {
    means: 'The client tried to continue at an offset other than the confirmed one.',
    remedy: "Continue at the response's `Upload-Offset`. Clients request the offset with `HEAD`.",
  },
  upload_gone: {
    means: 'The upload has expired, was canceled, failed, or was retired after it finished.',
    remedy: 'Start a new upload. The file page in the dashboard shows what happened to the old one.',
  },
  version_not_supported: {
    means: 'The request does not contain `Tus-Resumable: 1.0.0`.',
    remedy: 'Send that header with each request except `OPTIONS`.',
  },
  body_too_large: {
    means: 'The body is larger than this address accepts; API requests may have up to 64 KiB.',
    remedy: 'Send less data per request.',
  },
  file_too_large: {
    means: 'The file is larger than its Pipe, token or bucket allows, or more bytes arrived than announced.',
    remedy: 'The `Tus-Max-Size` header contains the maximum. Check `Upload-Length`.',
  },
  parts_used_up: {
    means:
      "The bucket's provider limits the number of parts per object, and this upload has used all of them.",
    remedy:
      "Start a new upload, declare the file's length at the start, and send it in fewer, larger requests.",
  },
  unsupported_media_type: {
    means: "This address does not accept the request's `Content-Type`.",
    remedy:
      'Send `application/json` to the API, and `application/offset+octet-stream` with the bytes of an upload.',
  },
  misdirected_host: {
    means: 'The request was sent to a host name that this Sluice does not serve.',
    remedy:
      "Use the address in `BASE_URL` or `UPLOAD_URL`; the administrator can change these. A workspace's own host works once it is verified.",
  },
  upload_locked: {
    means:
      'Another request is writing to this upload and did not release it in time, or the server could not respond right now.',
    remedy: 'Try again after a moment. Common clients do so automatically.',
  },
  rate_limited: {
    means: 'There were more requests than the limit allows.',
    remedy:
      'Wait for the time given in `Retry-After`. A token can be used for many uploads, so do not request one for each.',
  },
  checksum_mismatch: {
    means: "The bytes received do not match the request's checksum. None of them were kept.",
    remedy: 'Send the same bytes again.',
  },
  internal: {
    means: 'An unexpected error occurred in Sluice.',
    remedy: "Try again. If it happens again, send your administrator the response's `X-Request-Id`.",
  },
  bucket_refused: {
    means: 'The bucket rejected a request from Sluice; the detail contains its response.',
    remedy: 'Run the Data Store check in the dashboard: it tells you what to change.',
  },
  unavailable: {
    means: 'A service that Sluice needs is not responding, or Sluice is starting or overloaded.',
    remedy: 'Try again after the time given in `Retry-After`. No confirmed bytes are lost.',
  },
}
