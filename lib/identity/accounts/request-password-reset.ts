import { z } from 'zod'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import { takeForAddress, takeFromLimit } from '../../platform/rate-limits.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { emailField } from './account.ts'

export const passwordResetRequest = z.strictObject({ email: emailField })

const PER_ADDRESS = { burst: 10, refillMs: 60_000 }
const PER_ACCOUNT = { burst: 3, refillMs: 600_000 }

/** Does and answers the same whether there is such an account or not. */
export async function requestPasswordReset(
  runtime: Pick<Runtime, 'db' | 'clock' | 'queue' | 'vault'>,
  { email }: z.output<typeof passwordResetRequest>,
  address: string,
): Promise<void> {
  await takeForAddress(runtime, 'reset', address, PER_ADDRESS)
  await takeFromLimit(runtime, `reset:account:${hashSecret(email.toLowerCase())}`, PER_ACCOUNT)
  await enqueueMail(runtime, runtime.db, { kind: 'password-reset', email })
}
