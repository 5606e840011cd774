import type { S3Request } from './request.ts'
import { S3Error } from './s3-error.ts'

const MAX_PART_NUMBER = 10_000

export function partNumberOf({ query }: S3Request): number {
  return requirePartNumber(query.get('partNumber') ?? '')
}

export function requirePartNumber(text: string): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > MAX_PART_NUMBER) {
    throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive', {
      ArgumentName: 'partNumber',
      ArgumentValue: text,
    })
  }
  return number
}
