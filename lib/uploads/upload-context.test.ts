import { expect, it } from 'vitest'
import { createLogger } from '../platform/log/log.ts'
import { inBackground, type UploadContext } from './upload-context.ts'

it('waits for background work, and reports its failure', async () => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => void lines.push(line) })
  const background: UploadContext['background'] = new Set()
  inBackground({ background, log }, Promise.reject(new Error('the database is away')))
  expect(background.size).toBe(1)
  // An unhandled rejection would fail the run.
  await Promise.all(background)
  expect(background.size).toBe(0)
  expect(lines.join()).toContain('the database is away')
})
