import { Panel } from '#components/ui/panel.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { MAX_LOGO_BYTES, readLinkPages } from '#lib/upload-links/link-pages.ts'
import { currentActor } from '../../../session.ts'
import { LinkPagesForm } from './form.tsx'

export const metadata = { title: 'Link pages' }

export default async function LinkPagesSettings() {
  const actor = await currentActor('see')
  const pages = await readLinkPages(getRuntime(), actor.workspaceId)
  return (
    <Panel
      title="Link pages"
      description={
        <>
          How the pages of this workspace's{' '}
          <TextLink href="/docs/upload-links#your-name">upload links</TextLink> look to the people who open
          them. The title and the message are set for each link.
        </>
      }
      className="max-w-2xl"
    >
      <LinkPagesForm pages={pages} maxLogoBytes={MAX_LOGO_BYTES} />
    </Panel>
  )
}
