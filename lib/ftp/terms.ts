import { FOLDER_TERMS, type FolderTerms } from '../folders/terms.ts'
import { seconds } from '../platform/kernel/clock.ts'

export type FtpTerms = FolderTerms & {
  /** The maximum length of a command, and how many may wait while another one runs. */
  lineBytes: number
  waitingCommands: number
  /** How long to wait for a data connection, and for its TLS handshake. */
  dataMs: number
  /**
   * A data connection that ends looks the same whether the client has sent the entire file or was killed. Then its
   * control connection ends too, usually at once, so a file is only completed if that has not happened after this time.
   */
  settleMs: number
}

/** A fleet of devices often shares one address, and each picture is a connection of its own. */
export const FTP_TERMS: FtpTerms = {
  ...FOLDER_TERMS,
  connectionsPerNetwork: 1000,
  signingInPerNetwork: 100,
  exchangesPerNetwork: { burst: 100, refillMs: 40 },
  lineBytes: 4096,
  waitingCommands: 64,
  dataMs: seconds(20),
  settleMs: 500,
}
