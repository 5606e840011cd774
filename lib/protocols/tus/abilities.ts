import type { Bucket } from '../../uploads/bucket-port.ts'
import { mayConcatenate } from '../../uploads/opening/may-create.ts'
import type { PublicPipe } from '../../workspace/pipes/find-public-pipe.ts'
import { ALGORITHMS } from './checksum.ts'

const TUS_VERSION = '1.0.0'

const EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'termination',
  'expiration',
  'checksum',
  'checksum-trailer',
]

/** What a Pipe supports of TUS. */
export function tusAbilities(
  { dataStore }: PublicPipe,
  bucket: Bucket,
  maxBytes: number,
): Record<string, string> {
  const extensions = mayConcatenate(dataStore, bucket) ? [...EXTENSIONS, 'concatenation'] : EXTENSIONS
  return {
    'Tus-Version': TUS_VERSION,
    'Tus-Extension': extensions.join(','),
    'Tus-Checksum-Algorithm': ALGORITHMS.join(','),
    'Tus-Max-Size': String(maxBytes),
  }
}
