import { redirect } from 'next/navigation'
import { currentPerson, currentStanding } from '../../session.ts'
import { GiveCode, SetUpFactor } from './forms.tsx'

export const metadata = { title: 'Second factor' }

/** Shown after sign-in if a code is required, or a second factor must be set up, before the workspace opens. */
export default async function SecondFactor() {
  const [standing, person] = [await currentStanding(), await currentPerson()]
  if (!standing || !person) redirect('/login')
  if (standing.state === 'code_due')
    return (
      <>
        <h1 className="mb-6 font-semibold text-2xl tracking-[-0.02em]">Enter your second-factor code</h1>
        <GiveCode />
      </>
    )
  if (standing.state !== 'factor_due') redirect('/dashboard')
  return (
    <>
      <h1 className="mb-2 font-semibold text-2xl tracking-[-0.02em]">Set up a second factor</h1>
      <p className="mb-6 text-ink-soft text-sm">
        The workspace {standing.workspace.name} requires all members to use one. You can also{' '}
        <a href="/workspaces" className="text-water underline">
          open another workspace
        </a>
        .
      </p>
      <SetUpFactor hasPassword={person.hasPassword} />
    </>
  )
}
