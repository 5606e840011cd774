import { revalidatePath } from 'next/cache'
import type { FormState } from '#components/ui/form-state.ts'
import type { Operator } from '#lib/dashboard/operators/steer-workspace.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { assertMay, type Right } from '#lib/identity/rights.ts'
import type { Person, Session } from '#lib/identity/sessions/read-session.ts'
import { isSluiceError } from '#lib/platform/kernel/errors.ts'
import { getRuntime, type Runtime } from '#lib/platform/runtime.ts'
import { enteredSession, requireOperator, requirePerson } from '../session.ts'

type Outcome<Data> = { message?: string; data?: Data }

/** Runs a verb for the signed-in user if they have the right, and converts its result for a form. */
export async function act<Data = undefined>(
  right: Right,
  verb: (runtime: Runtime, actor: Actor, session: Session) => Promise<Outcome<Data> | undefined>,
): Promise<FormState<Data>> {
  const session = await enteredSession()
  return answer(async () => {
    assertMay(session.actor, right)
    const outcome = await verb(getRuntime(), session.actor, session)
    revalidatePath('/dashboard', 'layout')
    return outcome
  })
}

/** Like `act`, for a user's own data, with or without an open workspace. */
export async function actAsPerson<Data = undefined>(
  verb: (runtime: Runtime, person: Person) => Promise<Outcome<Data> | undefined>,
): Promise<FormState<Data>> {
  const person = await requirePerson()
  return answer(() => verb(getRuntime(), person))
}

/** Like `act`, for the service's operator. */
export async function actAsOperator<Data = undefined>(
  verb: (runtime: Runtime, operator: Operator) => Promise<Outcome<Data> | undefined>,
): Promise<FormState<Data>> {
  const operator = await requireOperator()
  return answer(async () => {
    const outcome = await verb(getRuntime(), operator)
    revalidatePath('/operator', 'layout')
    return outcome
  })
}

export async function answer<Data = undefined>(
  run: () => Promise<Outcome<Data> | undefined>,
): Promise<FormState<Data>> {
  try {
    return { status: 'done', ...(await run()) }
  } catch (error) {
    if (isSluiceError(error) && error.status < 500) return toFormError(error)
    if (isSluiceError(error)) return { status: 'error', message: error.message, fields: {} }
    if (isNextSignal(error)) throw error
    getRuntime().log.error({ err: error }, 'action failed')
    return {
      status: 'error',
      message: 'Something went wrong on our side. Try again in a moment.',
      fields: {},
    }
  }
}

/** The general message is left out if there are errors of fields: the form shows each at its field, or below. */
function toFormError(error: { message: string; fields: { field: string; message: string }[] | undefined }) {
  const fields = Object.fromEntries(
    (error.fields ?? []).map(({ field, message }) => [field, sentence(message)]),
  )
  const message = error.fields?.length ? '' : error.message
  return { status: 'error' as const, message, fields }
}

/** Turns a field message, such as `must not be empty`, into a sentence. */
function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** `redirect()` and `notFound()` work by throwing. */
function isNextSignal(error: unknown): boolean {
  return typeof (error as { digest?: unknown } | null)?.digest === 'string'
}
