/**
 * Everything that uploaders read, in English. Every other language has the same texts, and the same placeholders in
 * them. `words` are those of the components, and `linkPage` those of Sluice's page for upload links.
 */

/** A text for each of the language's plural forms. */
export type Plural = { one?: string; many?: string; other: string }

export const words = {
  lang: 'en',
  choose: 'Choose files',
  drop: 'Drop files or folders here, or',
  list: 'Uploads',
  pause: 'Pause {name}',
  resume: 'Resume {name}',
  retry: 'Retry {name}',
  cancel: 'Cancel {name}',
  remove: 'Remove {name} from the list',
  progress: 'Progress of {name}',
  queued: 'In the queue',
  uploading: '{percent}',
  waiting: '{reason}. Retrying automatically.',
  paused: 'Paused at {percent}',
  failed: 'Failed: {reason}',
  unreadable: 'The browser could not read this item.',
  tooMany: 'Only the first {count} dropped files were added. Drop the others separately.',
  done: 'Uploaded',
  missing: 'Choose the same file again to continue the upload.',
  /** Announced by screen readers when an upload's state changes. */
  said: '{name}: {state}',
  saidMore: { one: 'And {count} more.', other: 'And {count} more.' } as Plural,
  /** By the upload's `code`. The reasons for waiting are followed by the rest of `waiting`, so they have no period. */
  reasons: {
    network: 'Waiting for the network',
    status: 'The server responded with {status}',
    no_token: 'No upload token: {status}',
    file_changed: 'The file was changed or moved after it was chosen. Choose it again.',
    type_not_allowed: 'Files of this type are not accepted here.',
    type_mismatch: 'The content of this file does not match its type.',
    file_too_large: 'The file is too large.',
    quota_exceeded: 'The recipient cannot accept this much data at the moment.',
    token_exhausted: 'No more files are accepted here.',
    checksum_mismatch: 'The file was damaged on its way.',
    not_accepting: 'No files can be uploaded here at the moment.',
  },
}

export const linkPage = {
  skip: 'Skip to content',
  theme: { system: 'Color mode: system', light: 'Color mode: light', dark: 'Color mode: dark' },
  privacy:
    'Your files go straight to the person who created this link. Nobody can read them at this address.',
  name: 'Upload link',
  noScript: 'To send files from this page, allow JavaScript.',
  unknown: {
    name: 'No such link',
    title: 'This link does not work',
    text: 'It may be incomplete or mistyped, or may have been deleted. Copy it again from the message you received, or ask the person who sent it for a new one.',
  },
  limited: {
    title: 'Too many attempts',
    text: 'Too many invalid links were opened from your network. Wait a minute, then reload this page.',
  },
  failed: {
    title: 'This page could not be shown',
    text: 'Try again in a moment. Interrupted uploads continue where they stopped.',
    again: 'Try again',
  },
  closed: {
    title: 'This link is closed',
    text: 'Ask the person who sent it to reopen it or send a new one.',
  },
  expired: { title: 'This link has expired', text: 'Ask the person who sent it for a new one.' },
  exhausted: {
    title: 'This link accepts no more files',
    text: 'It has reached its limit. Ask the person who sent it to raise the limit or send another link.',
  },
  continues: 'Uploads in progress continue.',
  only: 'Only {types}',
  types: {
    images: 'images',
    videos: 'videos',
    audio: 'audio files',
    texts: 'text files',
    format: '{format} files',
  },
  filesLeft: { one: '{count} file left', other: '{count} files left' } as Plural,
  spaceLeft: '{size} left',
  openUntil: 'Open until {time}',
  chooseAgain: 'Choose the same files again',
  keepOpen:
    'Keep this page open until everything has arrived. If it is closed or the connection is lost, open the link again in this browser: the upload continues where it stopped.',
  arrived: { one: 'Your file has arrived', other: 'All {count} files have arrived' } as Plural,
  mayClose: 'You can close this page.',
  receipt: {
    label: 'Your email address',
    ask: 'For a receipt that lists your files. It is used for nothing else.',
    send: 'Send me a receipt',
    invalid: 'Enter your email address.',
    sent: 'The receipt is on its way to {email}.',
    subject: 'Receipt: {title}',
    arrived: {
      one: '{count} file ({size}) arrived through the upload link “{title}”:',
      other: '{count} files ({size}) arrived through the upload link “{title}”:',
    } as Plural,
    notYou: 'This address was entered on the link’s page. If it was not you, ignore this email.',
  },
  password: {
    label: 'Password',
    ask: 'Ask the person who sent you this link.',
    again: 'Uploads in progress continue without the password. Enter it again to send more files.',
    enter: 'Continue',
    missing: 'Enter this link’s password.',
    wrong: 'Wrong password. Ask the person who sent you the link.',
    limited: 'Too many attempts. Wait a minute, then try again.',
    noResponse: 'The server did not respond. Check your connection and try again.',
  },
}
