import type { Mail } from '../../platform/mail/mail.ts'
import { SIGNATURE } from '../accounts/mails.ts'
import { type Role, withArticle } from '../rights.ts'

type Invited = { workspace: string; role: Role; by: string; link: string }

export function invitationMail(to: string, { workspace, role, by, link }: Invited): Mail {
  const text = `${by} invites you to the workspace "${workspace}" on Sluice, as ${withArticle(role)}. The link is good for seven days, once, and only for this address:\n\n${link}\n\nIf you do not know them, leave it: nothing happens.`
  return { to, subject: `Join ${workspace} on Sluice`, text: text + SIGNATURE }
}

export function roleChangedMail(to: string, { workspace, role, by }: Omit<Invited, 'link'>): Mail {
  const text = `${by} made you ${withArticle(role)} of the workspace "${workspace}". Your account keys there have no more rights than that.`
  return { to, subject: `You are now ${withArticle(role)} of ${workspace}`, text: text + SIGNATURE }
}

export function removedMail(to: string, { workspace, by }: Pick<Invited, 'workspace' | 'by'>): Mail {
  const text = `${by} removed you from the workspace "${workspace}". You no longer see it, and the account keys that you made there were revoked. Your account and your other workspaces stay.`
  return { to, subject: `You are no longer a member of ${workspace}`, text: text + SIGNATURE }
}

type Deletion = { workspace: string; by: string; deleteAfter: Date | null; baseUrl: string }

export function deletionMail(to: string, { workspace, by, deleteAfter, baseUrl }: Deletion): Mail {
  if (!deleteAfter) {
    const text = `${by} brought the workspace "${workspace}" back. It takes uploads again, and nothing was lost.`
    return { to, subject: `${workspace} is back`, text: text + SIGNATURE }
  }
  const on = `${deleteAfter.toISOString().slice(0, 16).replace('T', ' at ')} UTC`
  const text = `${by} deleted the workspace "${workspace}". It takes no uploads any more. Until ${on} an owner can bring it back, with everything in it:\n\n${baseUrl}/dashboard/settings/workspace\n\nAfter that its Pipes, Senders, keys and records are erased. The objects in your buckets stay.`
  return { to, subject: `${workspace} will be deleted in seven days`, text: text + SIGNATURE }
}

export function suspensionMail(
  to: string,
  { workspace, reason }: { workspace: string; reason: string | null },
): Mail {
  if (reason === null) {
    const text = `The workspace "${workspace}" is no longer suspended. Uploads continue from where they stopped.`
    return { to, subject: `${workspace} takes uploads again`, text: text + SIGNATURE }
  }
  const text = `Whoever runs this Sluice suspended the workspace "${workspace}":\n\n${reason}\n\nIt issues no tokens and accepts no bytes for now. Everything in it is kept and can be read, and uploads keep their offsets.`
  return { to, subject: `${workspace} is suspended`, text: text + SIGNATURE }
}
