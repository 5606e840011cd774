import { expect, it } from 'vitest'
import { unsent } from './unsent.ts'

it('says where the link of an email is only if the server does not send it', () => {
  expect(unsent({ smtpUrl: 'smtp://localhost' }, { demo: false })).toBeUndefined()
  expect(unsent({ smtpUrl: undefined }, { demo: false })).toMatch(/does not send email.*administrator/)
  expect(unsent({ smtpUrl: undefined }, { demo: true })).toMatch(/does not send email.*Settings, Emails/)
})
