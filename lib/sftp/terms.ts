import { FOLDER_TERMS, type FolderTerms } from '../folders/terms.ts'

export type SftpTerms = FolderTerms & {
  /** How many bytes a client may send before it has signed in. */
  signInBytes: number
  /** The maximum number of SFTP channels per connection, and of sessions that it opens without starting SFTP. */
  channels: number
  unusedSessions: number
  /** The maximum number of open files and directories per connection. */
  handles: number
  /** A connection with this many unanswered requests is not read until the next response has been sent. */
  unanswered: number
}

export const SFTP_TERMS: SftpTerms = {
  ...FOLDER_TERMS,
  signInBytes: 256 * 1024,
  channels: 4,
  unusedSessions: 64,
  handles: 64,
  unanswered: 64,
}
