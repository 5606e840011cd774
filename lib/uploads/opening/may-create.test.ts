import { expect, it } from 'vitest'
import { assertTypeAllowed } from './may-create.ts'

type Limits = Parameters<typeof assertTypeAllowed>[0]
const limits = { pipe: { allowedTypes: ['image/*'] }, token: { allowedTypes: [] as string[] } } as Limits

it.each([
  ['tus', 'text/html', 'Files of type text/html are not allowed.'],
  ['tus', null, 'send it in the Content-Type header, or as filetype in the TUS metadata.'],
  ['http', null, 'The request named no type'],
  ['sftp', null, 'its name has no known extension.'],
  ['url', null, "The source's response has no Content-Type header."],
] as const)('says why an upload by %s of type %s is not allowed: %s', (protocol, filetype, why) => {
  const refuse = () => assertTypeAllowed(limits, filetype, protocol)
  expect(refuse).toThrow(expect.objectContaining({ code: 'type_not_allowed' }))
  expect(refuse).toThrow(why)
  expect(refuse).toThrow(' Allowed: image/*.')
})

it('allows any type, or none, if there are no limits', () => {
  const open = { ...limits, pipe: { allowedTypes: [] as string[] } } as Limits
  expect(() => assertTypeAllowed(open, null, 'tus')).not.toThrow()
})
