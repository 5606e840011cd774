import type { LedgerFile } from './core.ts'
import { assertHolds } from './failure.ts'
import { isStored } from './ledger-rules.ts'

/** What must hold for files that the customer's backend decides about. */

const isDecided = (decision: LedgerFile['decision']) => decision === 'allowed' || decision === 'rejected'

/** `hasSaid`: whether this decision was ever made. */
export function checkDecision(file: LedgerFile, hasSaid: (by: string, state: string) => boolean): void {
  const { filename, status, decision, decisions } = file
  const stored = decisions.map(({ state }) => state).join()
  const expected = decision === null || decision === 'due' || decision === 'asked' ? '' : decision
  assertHolds(
    'one decision for each file',
    stored === expected,
    () => `${filename} is ${decision}, and the stored decisions are ${stored || 'none'}`,
  )
  for (const { by, state } of decisions)
    assertHolds(
      'somebody has made each stored decision',
      by === 'time' || hasSaid(by, state),
      () => `nobody has decided that ${filename} is ${state} by ${by}`,
    )
  assertHolds(
    'only allowed files are transferred',
    !isStored(file) || decision === null || decision === 'allowed',
    () => `${filename} is ${status}, and ${decision}`,
  )
  assertHolds(
    'a rejected file has failed',
    decision !== 'rejected' || status === 'failed',
    () => `${filename} is rejected, and ${status}`,
  )
}

/** Only a deferral is replaced, and only once. */
export function checkDecisionChange(was: LedgerFile, is: LedgerFile): void {
  const isFinal = isDecided(was.decision) || (was.decision === 'deferred' && !isDecided(is.decision))
  assertHolds(
    'a decision is final',
    !isFinal || was.decision === is.decision,
    () => `${is.filename} was ${was.decision} and is ${is.decision}`,
  )
  assertHolds(
    'whether a hook decides about a file never changes',
    (was.decision === null) === (is.decision === null),
    () => `${is.filename} was ${was.decision} and is ${is.decision}`,
  )
}
