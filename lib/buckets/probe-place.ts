import type { BucketPlace } from './bucket-place.ts'
import type { Credentials } from './sign-request.ts'

/** A bucket as its customer entered it, with the credentials in plain text. */
export type ProbePlace = BucketPlace & Credentials & { prefix: string }
