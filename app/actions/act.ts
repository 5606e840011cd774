import { revalidatePath } from 'next/cache'
import type { FormState } from '#components/ui/form-state.ts'
import type { Operator } from '#lib/dashboard/operators/steer-workspace.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { assertMay, type Right } from '#lib/identity/rights.ts'
import type { Person, Session } from '#lib/identity/sessions/read-session.ts'
import { type FieldError, isSluiceError, type SluiceError } from '#lib/platform/kernel/errors.ts'
import { getRuntime, type Runtime } from '#lib/platform/runtime.ts'
import { enteredSession, requireOperator, requirePerson } from '../session.ts'

type Outcome<Data> = Promise<{ message?: string; data?: Data } | undefined>
/** A verb, after the form that it reads, if there is one. */
type Given<Verb> = [verb: Verb] | [form: FormData, verb: Verb]
const opened = <Verb>(given: Given<Verb>) => (given.length === 1 ? ([undefined, given[0]] as const) : given)

/** Runs a verb for the signed-in user if they have the right, and converts its result for a form. */
export async function act<Data = undefined>(
  right: Right,
  ...given: Given<(runtime: Runtime, actor: Actor, session: Session) => Outcome<Data>>
): Promise<FormState<Data>> {
  const [form, verb] = opened(given)
  const session = await enteredSession()
  return answer(form, async () => {
    assertMay(session.actor, right)
    const outcome = await verb(getRuntime(), session.actor, session)
    revalidatePath('/dashboard', 'layout')
    return outcome
  })
}

/** Like `act`, for a user's own data, with or without an open workspace. */
export async function actAsPerson<Data = undefined>(
  ...given: Given<(runtime: Runtime, person: Person) => Outcome<Data>>
): Promise<FormState<Data>> {
  const [form, verb] = opened(given)
  const person = await requirePerson()
  return answer(form, () => verb(getRuntime(), person))
}

/** Like `act`, for the service's operator. */
export async function actAsOperator<Data = undefined>(
  ...given: Given<(runtime: Runtime, operator: Operator) => Outcome<Data>>
): Promise<FormState<Data>> {
  const [form, verb] = opened(given)
  const operator = await requireOperator()
  return answer(form, async () => {
    const outcome = await verb(getRuntime(), operator)
    revalidatePath('/operator', 'layout')
    return outcome
  })
}

export async function answer<Data = undefined>(
  form: FormData | undefined,
  run: () => Outcome<Data>,
): Promise<FormState<Data>> {
  try {
    return { status: 'done', ...(await run()) }
  } catch (error) {
    if (isSluiceError(error)) return toFormError(error, form)
    if (isNextSignal(error)) throw error
    getRuntime().log.error({ err: error }, 'action failed')
    return {
      status: 'error',
      message: 'Something went wrong on our side. Try again in a moment.',
      fields: {},
    }
  }
}

/**
 * The form shows each error at its field, including those of an entry in it, such as `allowedTypes.0`. Errors that no
 * field can show are in the message, which otherwise only repeats them.
 */
function toFormError({ message, fields: faults = [] }: SluiceError, form: FormData | undefined) {
  const ofField = ({ field }: FieldError) =>
    [...(form?.keys() ?? [])].some((name) => field === name || field.startsWith(`${name}.`))
  const { own = [], others = [] } = Object.groupBy(faults, (fault) => (ofField(fault) ? 'own' : 'others'))
  const texts = others.map(({ field, message }) => `${field}: ${sentence(message)}`)
  return {
    status: 'error' as const,
    message: faults.length > 0 ? texts.join(' ') : message,
    fields: Object.fromEntries(own.map(({ field, message }) => [field, sentence(message)])),
  }
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
