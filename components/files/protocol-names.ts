import type { File } from '#lib/dashboard/files/file.ts'

/** What people are told of how a file came. */
export const PROTOCOL_NAMES: Record<File['protocol'], string> = {
  tus: 'TUS',
  'resumable-http': 'Resumable HTTP',
  http: 'Plain HTTP',
  url: 'URL import',
  sftp: 'SFTP',
}
