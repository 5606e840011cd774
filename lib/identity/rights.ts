import { MEMBER_ROLES } from '#drizzle/schema/index.ts'
import { SluiceError } from '../platform/kernel/errors.ts'

/**
 * The rights of each role in a workspace, defined in one table that only `may` reads. Every API operation, server
 * action, page, stream and export declares the right it requires, and checks it before doing anything else.
 */
export const ROLES = MEMBER_ROLES
export type Role = (typeof ROLES)[number]

const RIGHTS = {
  /** See everything except secrets. */
  see: { viewer: true, developer: true, admin: true, owner: true },
  /** Use the "Try it" page; resend and test webhooks; cancel a file. */
  operate: { viewer: false, developer: true, admin: true, owner: true },
  /** Create and change Pipes, outputs and Senders; reveal secrets; create account keys. */
  build: { viewer: false, developer: true, admin: true, owner: true },
  /**
   * Manage Data Stores, members up to admins, and limits; erase records; rename the workspace; require a second
   * factor.
   */
  administer: { viewer: false, developer: false, admin: true, owner: true },
  /** Manage owners; delete the workspace; stop requiring a second factor. */
  own: { viewer: false, developer: false, admin: false, owner: true },
} satisfies Record<string, Record<Role, boolean>>
export type Right = keyof typeof RIGHTS
export const ALL_RIGHTS = Object.keys(RIGHTS) as Right[]

export function may({ role }: { role: Role }, right: Right): boolean {
  return RIGHTS[right][role]
}

export function assertMay(actor: { role: Role; kind?: string }, right: Right): void {
  if (may(actor, right)) return
  const least = ROLES.find((role) => may({ role }, right))
  const message =
    actor.kind === 'account_key'
      ? `This account key has the rights of ${withArticle(actor.role)}; this requires those of ${withArticle(least!)}.`
      : `Your role is ${actor.role}; this requires the role ${least}.`
  throw new SluiceError('forbidden', message)
}

/** The role with fewer rights. */
export function lesserRole(one: Role, other: Role): Role {
  return ROLES[Math.min(ROLES.indexOf(one), ROLES.indexOf(other))]!
}

/** Such as `an admin`. */
export function withArticle(role: Role): string {
  return `${/^[aeo]/.test(role) ? 'an' : 'a'} ${role}`
}
