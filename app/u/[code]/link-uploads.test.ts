import { afterEach, expect, it, vi } from 'vitest'
import { createLinkUploads } from './link-uploads.ts'

afterEach(() => vi.unstubAllGlobals())

const UPLOAD = {
  token: 'tmp_a',
  expiresAt: '2099-01-01T00:00:00Z',
  uploadUrl: 'https://sluice.example/files/',
}

it('continues existing uploads without the password after it was changed', async () => {
  let current = 'open sesame'
  const asked: (string | undefined)[] = []
  vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => {
    const { password } = JSON.parse(body)
    asked.push(password)
    if (password !== undefined && password !== current)
      return Response.json({ detail: "The upload link's password is wrong." }, { status: 403 })
    return Response.json({ message: '', upload: { ...UPLOAD, mayCreate: password !== undefined } })
  })
  const onPasswordChanged = vi.fn()
  const own = createLinkUploads({ code: 'a', place: 'link-a', onPasswordChanged })
  expect((await own.enter('open sesame')).upload).toMatchObject({ mayCreate: true })
  current = 'open barley'
  expect((await own.comeBack())?.upload).toMatchObject({ mayCreate: false })
  await own.comeBack()
  expect(onPasswordChanged).toHaveBeenCalledOnce()
  expect(asked).toEqual(['open sesame', 'open sesame', undefined, undefined])
  await expect(own.enter('open sesame')).rejects.toMatchObject({ status: 403 })
})
