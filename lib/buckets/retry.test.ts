import { expect, it } from 'vitest'
import { BucketError } from './bucket-error.ts'
import { withRetries } from './call-bucket.ts'

it('retries transient errors, but not those that `mayRepeat` excludes', async () => {
  const attempts = async (code: string) => {
    let made = 0
    const work = withRetries(
      async () => {
        made += 1
        throw new BucketError('trouble', code, 'no answer')
      },
      { delaysMs: [0, 0], mayRepeat: (error) => error.code !== 'timeout' },
    )
    await expect(work).rejects.toMatchObject({ code })
    return made
  }
  expect(await attempts('SlowDown')).toBe(3)
  expect(await attempts('timeout')).toBe(1)
})
