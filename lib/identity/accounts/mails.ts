import type { TurnedOffKind } from '#drizzle/schema/index.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import { type Role, withArticle } from '../rights.ts'
import type { TurnedOffThing } from './turned-off.ts'

export const SIGNATURE = '\n\n--\nSluice\n'
const NOT_YOU = 'If this was not you, ignore this email and nothing will happen.'

export function verifyMail(to: string, link: string): Mail {
  const text = `Open this link to verify your email address. It is valid for two days, and you will need the password you signed up with.\n\n${link}\n\nIf you did not sign up, ignore this email. You can also set your own password, which makes the account yours alone.`
  return { to, subject: 'Verify your email address', text: text + SIGNATURE }
}

export function alreadyMail(to: string, baseUrl: string): Mail {
  const text = `Someone, perhaps you, signed up with this email address. You already have an account:\n\n${baseUrl}/login\n\nIf you forgot the password, you can set a new one there. ${NOT_YOU}`
  return { to, subject: 'You already have an account', text: text + SIGNATURE }
}

export function resetMail(to: string, link: string): Mail {
  const text = `Open this link to set a new password. It is valid for an hour.\n\n${link}\n\n${NOT_YOU}`
  return { to, subject: 'Set a new password', text: text + SIGNATURE }
}

export function passwordChangedMail(to: string, baseUrl: string): Mail {
  const text = `Your account's password was changed, and every other session was signed out.\n\nIf this was not you, set a new password immediately:\n\n${baseUrl}/forgot-password`
  return { to, subject: 'Your password was changed', text: text + SIGNATURE }
}

/** The names of the kinds of turned-off items, as shown in emails and on pages. */
export const TURNED_OFF_NAMES: Record<TurnedOffKind, string> = {
  account_key: 'Account key',
  sender: 'Sender',
  webhook: 'Webhook for the Pipe',
  hook: 'Decision hook for the Pipe',
  data_store: 'Data Store',
}

const MOST_LISTED = 50

export function turnedOffMail(to: string, things: TurnedOffThing[], baseUrl: string): Mail {
  const listed = things.slice(0, MOST_LISTED).map(({ kind, name }) => `- ${TURNED_OFF_NAMES[kind]} “${name}”`)
  const more = things.length > MOST_LISTED ? [`- and ${things.length - MOST_LISTED} more`] : []
  const text = `Someone used your account before you verified that this address is yours. It may have been you. In case it was not, everything that could access or receive your data was turned off:\n\n${[...listed, ...more].join('\n')}\n\nUploads in progress were canceled. You can switch on again whatever you recognize:\n\n${baseUrl}/dashboard/settings/turned-off`
  return { to, subject: 'Parts of your account were turned off', text: text + SIGNATURE }
}

type Connection = { name: string; connected: boolean }

export function providerMail(to: string, { name, connected }: Connection, baseUrl: string): Mail {
  const subject = connected ? `You can now sign in with ${name}` : `${name} was disconnected`
  const what = connected
    ? `${name} can now be used to sign in to your account.`
    : `${name} can no longer be used to sign in to your account.`
  const text = `${what}\n\nIf this was not you, set a new password immediately:\n\n${baseUrl}/forgot-password\n\nThen check your providers under Settings, Security.`
  return { to, subject, text: text + SIGNATURE }
}

const FACTOR = {
  on: {
    subject: 'A second factor was added to your account',
    text: 'Every sign-in to your account now requires a code from your authenticator or one of your recovery codes.',
  },
  off: {
    subject: 'The second factor was removed from your account',
    text: "Your account's second factor was removed by someone who entered one of its codes.",
  },
  locked: {
    subject: 'Someone entered many wrong codes',
    text: 'Someone who can already sign in to your account entered a hundred wrong second-factor codes. Authenticator codes are refused until you sign in with one of your recovery codes.',
  },
}

export function secondFactorMail(to: string, what: keyof typeof FACTOR, baseUrl: string): Mail {
  const { subject, text } = FACTOR[what]
  const advice = `\n\nIf this was not you, set a new password immediately:\n\n${baseUrl}/forgot-password`
  return { to, subject, text: text + advice + SIGNATURE }
}

type Invited = { workspace: string; role: Role; by: string; link: string }

export function invitationMail(to: string, { workspace, role, by, link }: Invited): Mail {
  const text = `${by} invites you to the workspace “${workspace}” on Sluice as ${withArticle(role)}. The link can be used once, within seven days, and only with this address:\n\n${link}\n\nIf you do not know them, ignore this email and nothing will happen.`
  return { to, subject: `Join ${workspace} on Sluice`, text: text + SIGNATURE }
}

export function roleChangedMail(to: string, { workspace, role, by }: Omit<Invited, 'link'>): Mail {
  const text = `${by} made you ${withArticle(role)} of the workspace “${workspace}”. Your account keys there are limited to the rights of that role.`
  return { to, subject: `You are now ${withArticle(role)} of ${workspace}`, text: text + SIGNATURE }
}

export function removedMail(to: string, { workspace, by }: Pick<Invited, 'workspace' | 'by'>): Mail {
  const text = `${by} removed you from the workspace “${workspace}”. You can no longer see it, and the account keys you created there were revoked. Your account and your other workspaces are not affected.`
  return { to, subject: `You are no longer a member of ${workspace}`, text: text + SIGNATURE }
}

type Deletion = { workspace: string; by: string; deleteAfter: Date | null; baseUrl: string }

export function deletionMail(to: string, { workspace, by, deleteAfter, baseUrl }: Deletion): Mail {
  if (!deleteAfter) {
    const text = `${by} restored the workspace “${workspace}”. It accepts uploads again, and no data was lost.`
    return { to, subject: `${workspace} was restored`, text: text + SIGNATURE }
  }
  const on = `${deleteAfter.toISOString().slice(0, 16).replace('T', ' at ')} UTC`
  const text = `${by} deleted the workspace “${workspace}”. It no longer accepts uploads. Until ${on}, an owner can restore it with everything in it:\n\n${baseUrl}/dashboard/settings/workspace\n\nAfter that, its Pipes, Senders, keys and records are erased. The objects in your buckets are not deleted.`
  return { to, subject: `${workspace} will be deleted in seven days`, text: text + SIGNATURE }
}

export function suspensionMail(
  to: string,
  { workspace, reason }: { workspace: string; reason: string | null },
): Mail {
  if (reason === null) {
    const text = `The workspace “${workspace}” is no longer suspended. Uploads can continue where they stopped.`
    return { to, subject: `${workspace} accepts uploads again`, text: text + SIGNATURE }
  }
  const text = `Your administrator suspended the workspace “${workspace}”:\n\n${reason}\n\nFor now, it issues no tokens and accepts no bytes. Its data is kept and can still be read, and uploads keep their offsets.`
  return { to, subject: `${workspace} is suspended`, text: text + SIGNATURE }
}
