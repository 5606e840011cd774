import type { Mail } from '../../platform/mail/mail.ts'

/** What the owner of a workspace is told by mail, without having asked. */
type Text = Omit<Mail, 'to'>

const SIGNATURE = '\n\n--\nSluice\n'

export function senderExposed(
  sender: { id: string; name: string; origin: string | null },
  baseUrl: string,
): Text {
  const where = sender.origin ? ` on ${sender.origin}` : ''
  return {
    subject: `The token of the Sender “${sender.name}” was seen in a browser`,
    text: `The private token of the Sender “${sender.name}” was sent to the upload address, so it is in a browser${where}. Whoever visits that page can read it and make upload tokens.\n\nUse a temporary token there, and rotate this one now:\n\n${baseUrl}/dashboard/senders/${sender.id}${SIGNATURE}`,
  }
}

export function quotaReached(usage: { percent: 80 | 100; month: string }, baseUrl: string): Text {
  const consequence =
    usage.percent === 100
      ? 'New uploads are refused until the month (UTC) is over; those under way may finish.'
      : 'When it is used up, new uploads are refused until the month (UTC) is over.'
  return {
    subject: `${usage.percent} % of the transfer of ${usage.month} is used`,
    text: `Your workspace has used ${usage.percent} % of its transfer for ${usage.month}. ${consequence}\n\n${baseUrl}/dashboard/usage${SIGNATURE}`,
  }
}
