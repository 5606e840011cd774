import { currentPerson } from '../../session.ts'
import { Invitation } from '../forms.tsx'
import { ProviderButtons } from '../provider-buttons.tsx'
import { WithLink } from '../with-link.tsx'

export const metadata = { title: 'Join a workspace' }

export default async function InvitationPage() {
  const person = await currentPerson()
  return (
    <>
      <h1 className="mb-6 font-semibold text-2xl tracking-[-0.02em]">Join a workspace</h1>
      <WithLink next={null}>
        <Invitation email={person?.email} providers={<ProviderButtons next="/invitation" />} />
      </WithLink>
    </>
  )
}
