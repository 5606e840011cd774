import type { ErrorCode } from './errors.ts'

/** For the page of each code: when it is answered, and what its reader can do. */
export const errorAdvice: Record<ErrorCode, { means: string; remedy: string }> = {
  invalid_json: {
    means: 'The body of the request is empty or is not JSON in UTF-8.',
    remedy:
      'Send a JSON object. Check for a trailing comma, single quotes, or a body that was encoded twice.',
  },
  invalid_request: {
    means: 'The request was read, but a field of it is unknown, missing or out of range.',
    remedy: 'Read `errors`: it names each field and says what it must be. Nothing was changed.',
  },
  address_not_allowed: {
    means:
      'The address of a webhook or a bucket leads into a private network, or to a port or scheme that Sluice does not use.',
    remedy:
      'Give a public `https` address. The administrator can allow hosts on the internal network with `ALLOWED_PRIVATE_HOSTS`.',
  },
  invalid_header: {
    means: 'A header of an upload request is missing or malformed; the detail names it.',
    remedy:
      'Send the header as TUS 1.0.0 says. If a library wrote it, look for a proxy that strips or changes headers.',
  },
  token_missing: {
    means: 'The request has no `Authorization: Bearer …` header.',
    remedy:
      'Send the Sender token (`sk_…`) to the token API, and a temporary token (`tmp_…`) to the upload address.',
  },
  token_invalid: {
    means: 'There is no such token here, or it belongs to something else, such as another Pipe.',
    remedy: 'Request a new token from your backend. Check that its Pipe matches the upload URL.',
  },
  token_revoked: {
    means: 'The token was valid once, and it or its Sender was revoked.',
    remedy:
      'Request a new token from a Sender that is not revoked. It can continue uploads with the same Sender, Pipe and subject.',
  },
  token_expired: {
    means: 'The temporary token has expired and cannot create new uploads.',
    remedy: 'Request a new token from your backend. Uploads that the old one created continue.',
  },
  sender_token_exposed: {
    means: 'A Sender token (`sk_…`) was sent to the upload address, where browsers send theirs.',
    remedy:
      'Rotate that Sender now if a browser held its token. Browsers get temporary tokens (`tmp_…`) from your backend.',
  },
  account_key_missing: {
    means: 'The management API was called without an account key.',
    remedy: 'Send `Authorization: Bearer ak_…`. Account keys are made in the dashboard under Settings.',
  },
  account_key_invalid: {
    means: 'There is no such account key, or it was revoked.',
    remedy: 'Make a new key in the dashboard under Settings, and check that it was copied whole.',
  },
  signed_out: {
    means: 'The session of the dashboard is over or was ended elsewhere.',
    remedy: 'Sign in again.',
  },
  sign_in_failed: {
    means: 'The address and the password do not belong together, or there were too many attempts.',
    remedy: 'Try again after a moment, or ask for a link to set a new password.',
  },
  link_invalid: {
    means: 'The link from a mail was used already, is too old, or was cut.',
    remedy: 'Ask for a new link, and open it whole.',
  },
  origin_not_allowed: {
    means: 'The page that uploads is of an origin that the Pipe does not list.',
    remedy: 'Add the origin, such as `https://www.example.com`, under the restrictions of the Pipe.',
  },
  type_not_allowed: {
    means: 'The declared media type of the file is not among those that the Pipe or the token allows.',
    remedy: 'Send `filetype` in the metadata of the upload, or allow the type.',
  },
  type_mismatch: {
    means:
      'The first bytes of the file are not of the type that was declared, and the Pipe verifies the content. The file has failed.',
    remedy:
      'Send the file with its own type. Text has to be UTF-8, and a file of no type may be declared as `application/octet-stream`.',
  },
  quota_exceeded: {
    means: 'The file does not fit into what is left of the transfer quota of this month.',
    remedy:
      'Send a smaller file, or wait for the first day of the next month (UTC). Uploads in progress may finish.',
  },
  token_exhausted: {
    means: 'The token was issued with `maxFiles`, and it has created so many uploads.',
    remedy: 'Request a new token from your backend.',
  },
  pipe_source_off: {
    means:
      'The source of the Pipe, HTTP (TUS) or URL, is off, so it takes no new uploads or imports that way.',
    remedy: 'Switch the source on under the inputs of the Pipe. Uploads in progress go on either way.',
  },
  data_store_not_ready: {
    means:
      'No check of the Data Store of this Pipe has succeeded yet, and no upload to it has; or it was turned off when the account changed hands.',
    remedy:
      'Check the Data Store in the dashboard, and change what the check names. Then it takes uploads. One that was turned off can be switched on again under the settings.',
  },
  upload_rejected: {
    means:
      'The backend of this Pipe’s owner does not allow the upload, or has rejected its file. `detail` has its reason.',
    remedy:
      'Show the reason to the person who uploads. Sending the same file again gets the same decision from the same upload, and a new one from a new upload.',
  },
  batch_sealed: {
    means: 'The batch that the upload names was sealed, so it takes no more files.',
    remedy:
      'Give the next files a batch of another name, or seal a batch only after all its files were created.',
  },
  upload_is_final: {
    means:
      'The address is that of a concatenation, which is made of partial uploads and takes no bytes itself.',
    remedy: 'Send the bytes to the partial uploads, and create the final upload when they are complete.',
  },
  workspace_suspended: {
    means:
      'The administrator suspended the workspace, or its owner deleted it and can still restore it. It issues no tokens and accepts no bytes.',
    remedy:
      'Everything is kept: uploads continue from their offset once it is lifted. Ask an owner of the workspace, who was told why.',
  },
  forbidden: {
    means: 'You do not have permission to do this.',
    remedy: 'Ask somebody of the workspace who may.',
  },
  cross_site_request: {
    means:
      'A form or an action of the dashboard was sent by a page of another host: its `Origin` is not the `Host` of the request.',
    remedy:
      'Send it from a page of this Sluice. If it was one, a proxy changes `Host` or `Origin`: let it pass both on as they came.',
  },
  not_found: {
    means: 'There is nothing at this address, or nothing that you may see.',
    remedy: 'Check the path and the id. Resources in other workspaces return 404, as if they did not exist.',
  },
  pipe_not_found: {
    means: 'There is no such Pipe in your workspace.',
    remedy: 'Copy the id from the Pipe page, and check that the token or key belongs to the same workspace.',
  },
  upload_not_found: {
    means: 'There is no such upload for this token.',
    remedy: 'Start a new upload. A token only continues uploads of its own Sender, Pipe and subject.',
  },
  method_not_allowed: {
    means: 'The address exists, but not for this method.',
    remedy: 'Use a method that the `Allow` header of the answer names.',
  },
  conflict: {
    means: 'The request is right, but not in the present state; the detail says what stands against it.',
    remedy: 'Do what the detail names first, then send the request again.',
  },
  other_protocol: {
    means: 'An upload was asked for by another protocol than the one that created it.',
    remedy:
      'Continue it with the client that began it: TUS, or Resumable Uploads for HTTP. What one plain request sent cannot be continued.',
  },
  offset_conflict: {
    means: 'The client wants to go on at another offset than the one that is confirmed.',
    remedy: 'Go on at the `Upload-Offset` of the answer. Clients ask for it by `HEAD`.',
  },
  upload_gone: {
    means: 'The upload expired, was canceled, failed, or was retired after it had finished.',
    remedy: 'Begin a new upload. The file in the dashboard says what became of the old one.',
  },
  version_not_supported: {
    means: 'The request does not say `Tus-Resumable: 1.0.0`.',
    remedy: 'Send that header with each request but `OPTIONS`.',
  },
  body_too_large: {
    means: 'The body is larger than this address takes; requests of the API may have 64 KiB.',
    remedy: 'Send less at a time.',
  },
  file_too_large: {
    means:
      'The file is larger than its Pipe, its token or its bucket allows, or more bytes came than were announced.',
    remedy: 'The `Tus-Max-Size` header names the most. Check `Upload-Length`.',
  },
  parts_used_up: {
    means:
      'The provider of the bucket allows only so many parts per object, and this upload has used them up.',
    remedy:
      'Begin a new upload, declare the length of the file at its start, and send it in fewer and larger requests.',
  },
  unsupported_media_type: {
    means: 'The `Content-Type` of the request is not the one that this address takes.',
    remedy:
      'Send `application/json` to the API, and `application/offset+octet-stream` with the bytes of an upload.',
  },
  misdirected_host: {
    means: 'The request came for a host name that this Sluice does not answer for.',
    remedy: 'Use the address of `BASE_URL` or `UPLOAD_URL`; the administrator can change these.',
  },
  upload_locked: {
    means:
      'Another request is writing this upload and did not let go in time, or the server could not answer just now.',
    remedy: 'Try again after a moment. The common clients do so by themselves.',
  },
  rate_limited: {
    means: 'There were more requests than the limit allows.',
    remedy:
      'Wait as long as `Retry-After` says. A token can be used for many uploads, so do not ask for one each time.',
  },
  checksum_mismatch: {
    means:
      'The bytes that arrived are not those that the checksum of the request was made of. None of them were kept.',
    remedy: 'Send the same bytes again.',
  },
  internal: {
    means: 'Sluice made a mistake that it did not foresee.',
    remedy: 'Try again. If it happens again, give your administrator the `X-Request-Id` of the response.',
  },
  bucket_refused: {
    means: 'The bucket refused what Sluice asked of it; the detail says what it answered.',
    remedy: 'Run the check of the Data Store in the dashboard: it names what to change.',
  },
  unavailable: {
    means: 'Something that Sluice needs does not answer at the moment, or it is starting or overloaded.',
    remedy: 'Try again after `Retry-After`. Nothing that was confirmed is lost.',
  },
}
