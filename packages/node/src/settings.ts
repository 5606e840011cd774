/** Options that can also be set by environment variables, in runtimes that have them. */
const VARIABLES = {
  baseUrl: 'SLUICE_URL',
  accountKey: 'SLUICE_ACCOUNT_KEY',
  senderToken: 'SLUICE_SENDER_TOKEN',
  pipeId: 'SLUICE_PIPE_ID',
  hookSecret: 'SLUICE_HOOK_SECRET',
} as const

export function setting(name: keyof typeof VARIABLES, given: string | undefined): string {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  const found = given ?? process?.env?.[VARIABLES[name]]
  if (found) return found
  throw new TypeError(`Sluice needs ${name}: pass it, or set ${VARIABLES[name]}.`)
}
