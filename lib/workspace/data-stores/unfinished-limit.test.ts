import { expect, it } from 'vitest'
import { unfinishedLimit } from './presets.ts'

it('states how long an upload may take if the provider drops unfinished uploads', () => {
  expect(unfinishedLimit('minio')).toMatch(/^MinIO drops .* 24 hours after .* within 23 hours,/)
  expect(unfinishedLimit('r2')).toMatch(/^Cloudflare R2 drops .* 7 days after .* within 6 days and 23 hours,/)
  expect(unfinishedLimit('aws')).toBeUndefined()
})
