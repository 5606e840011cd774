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
