import type { Mail } from '../../platform/mail/mail.ts'

const SIGNATURE = '\n\n--\nSluice\n'
const NOT_YOU = 'If this was not you, leave it: nothing happens.'

export function verifyMail(to: string, link: string): Mail {
  const text = `Open this link to verify your e-mail address. It is good for two days, and asks for the password that you signed up with.\n\n${link}\n\nIf you did not sign up, leave it, or set a password of your own: then the account is yours, and nobody else's.`
  return { to, subject: 'Verify your e-mail address', text: text + SIGNATURE }
}

export function alreadyMail(to: string, baseUrl: string): Mail {
  const text = `Somebody, perhaps you, signed up with this e-mail address. You have an account already:\n\n${baseUrl}/login\n\nIf you forgot the password, you can set a new one there. ${NOT_YOU}`
  return { to, subject: 'You have an account already', text: text + SIGNATURE }
}

export function resetMail(to: string, link: string): Mail {
  const text = `Open this link to set a new password. It is good for an hour.\n\n${link}\n\n${NOT_YOU}`
  return { to, subject: 'Set a new password', text: text + SIGNATURE }
}

export function passwordChangedMail(to: string, baseUrl: string): Mail {
  const text = `The password of your account was changed, and every other session was signed out.\n\nIf this was not you, set a new one at once:\n\n${baseUrl}/forgot-password`
  return { to, subject: 'Your password was changed', text: text + SIGNATURE }
}
