import { expect, it } from 'vitest'
import { chooseProtocol } from './create-upload-handler.ts'

const body = { 'content-length': '5' }

it.each([
  ['POST', { 'tus-resumable': '1.0.0', ...body }, 'tus'],
  ['PUT', { 'tus-resumable': '1.0.0', ...body }, 'tus'],
  ['POST', { 'upload-length': '5', ...body }, 'tus'],
  ['POST', { 'upload-metadata': 'a YQ==', ...body }, 'tus'],
  ['POST', { 'upload-defer-length': '1' }, 'tus'],
  ['POST', { 'upload-concat': 'partial' }, 'tus'],
  ['POST', { 'upload-complete': '?1', ...body }, 'resumable-http'],
  ['POST', { 'upload-complete': '?0', 'upload-length': '9', ...body }, 'resumable-http'],
  ['PUT', { 'upload-incomplete': '?1' }, 'resumable-http'],
  ['PUT', { 'upload-complete': 'yes', ...body }, 'http'],
  ['PUT', { 'upload-complete': '?1', 'tus-resumable': '1.0.0' }, 'tus'],
  ['POST', { 'upload-complete': '?1', 'upload-metadata': 'a YQ==' }, 'tus'],
  ['POST', { 'upload-draft-interop-version': '6', 'upload-metadata': 'a YQ==' }, 'resumable-http'],
  ['PATCH', { 'upload-offset': '0', 'content-type': 'application/partial-upload' }, 'resumable-http'],
  ['HEAD', { 'upload-draft-interop-version': '8' }, 'resumable-http'],
  ['DELETE', { 'upload-draft-interop-version': '99' }, 'resumable-http'],
  ['HEAD', { 'upload-draft-interop-version': 'x' }, 'tus'],
  ['POST', body, 'http'],
  ['POST', { 'transfer-encoding': 'chunked' }, 'http'],
  ['POST', { 'content-length': '0' }, 'http'],
  ['POST', {}, 'tus'],
  ['PUT', {}, 'http'],
  ['PUT', { 'content-length': '0' }, 'http'],
  ['HEAD', {}, 'tus'],
  ['PATCH', { 'upload-offset': '0', ...body }, 'tus'],
  ['DELETE', {}, 'tus'],
])('handles %s with %j as %s', (method, headers, protocol) => {
  expect(chooseProtocol(method, headers)).toBe(protocol)
})
