/** Descriptions of what the core does in the database, by the name of the function that does it. */

const STATEMENTS: Record<string, string> = {
  statement: 'executes a statement',
  findCreations: 'looks up the token',
  findUploads: 'looks up the token and the upload',
  findFinal: 'looks for a file that these pieces were joined into',
  findInterrupted: 'looks for uploads that were interrupted',
  findLate: 'looks for uploads that are late',
  tailsOfWorkspaces: 'adds up the tails of all workspaces',
  currentOffset: 'reads the offset',
  readStatus: 'reads the status',
  readTail: 'reads the tail',
  readParts: 'reads the list of parts',
  readPartials: 'reads the pieces of a joined file',
  readFinishedPartials: 'looks up the pieces that are to be joined',
  lockPieces: 'locks the pieces',
  takePieces: 'takes the pieces',
  discardPartials: 'marks the pieces for deletion',
  retirePartials: 'retires pieces that nobody joined',
  insert: 'inserts the upload',
  takeLease: 'tries to take the lease',
  inherit: 'reads what earlier writers left, and deletes what they staged',
  readLease: 'looks at the lease',
  renewLeases: 'renews its leases',
  releaseLease: 'releases the lease',
  '#askHolder': 'asks the holder for the lease',
  '#forget': 'tells the others that a lease is free',
  markInterrupted: 'notes that the client was interrupted',
  move: 'records bytes and moves the offset',
  bindParts: 'binds part numbers to their ranges',
  recordMultipart: 'records the multipart upload',
  recordLastPart: 'records the last part',
  stageTail: 'stages bytes that do not count yet',
  reserve: 'reserves quota',
  reservations: 'reads what is reserved',
  assertWithinQuota: 'compares the usage with the quota',
  quotaExceeded: 'reads how much quota is left',
  lapseReservations: 'gives back quota that nobody uses',
  countUncountedBytes: 'counts bytes that nobody has counted',
  claim: 'claims files that a decision is due for',
  recordDecision: 'stores the decision',
  readDecision: 'looks whether there is a decision',
  findLapsed: 'looks for files that nobody has decided about',
  claimTransferring: 'claims files that have all their bytes',
  recordTransferred: 'records that every destination has ended',
  recordFound: 'marks the file as transferred, since its object was found',
  lockTransferring: 'locks the file that is transferring',
  deleteBytes: 'deletes the parts and tails of a file that has ended',
  record: 'records files that are stored by one request each',
  recordEnd: 'records the end of the upload',
  deletePage: 'looks for bytes without an upload',
  recordDestinationFailure: 'gives up a destination',
  recordLateEtags: 'records that a destination has parts by now',
  endedFiles: 'reads what the event has to tell',
  writeEvents: 'writes the event',
  claimLeftovers: 'claims what ended uploads have left in the bucket',
  markCleared: 'notes that nothing is left in the bucket',
  erase: 'erases an upload whose creation was refused',
  takeUploads: 'looks up the token and takes the first lease',
  takeFromLimit: 'counts a refused creation',
}

const TRANSACTIONS: Record<string, string> = {
  settle: 'that the file is transferred',
  'whole-files': 'that files are transferred',
  endUpload: 'the end of the upload',
  failInterrupted: 'the end of the interrupted upload',
  takeBackUpload: 'that the upload is taken back',
  moveWithin: 'the new offset',
  recordPut: 'the object at each required destination',
  recordStoredAt: 'the objects that exist',
  recordLength: 'the length',
  reserveAgain: 'the reservation',
  insertFinal: 'the joined file',
  store: 'the decision',
}

export function statementOf(name: string): string {
  return STATEMENTS[name] ?? `executes a statement of ${spaced(name)}`
}

export function transactionOf(name: string): string {
  return TRANSACTIONS[name] ?? `a transaction of ${spaced(name)}`
}

function spaced(name: string): string {
  return name.replace('#', '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
