/** Where the link of an email is if the server does not send it. */
export function unsent({ smtpUrl }: { smtpUrl: string | undefined }, { demo }: { demo: boolean }) {
  if (smtpUrl) return undefined
  const where = demo ? 'Owners find the link under Settings, Emails.' : 'Ask your administrator for the link.'
  return `This server does not send email. ${where}`
}
