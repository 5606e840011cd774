import { Panel } from '#components/ui/panel.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { readLinkHost } from '#lib/upload-links/link-host.ts'
import { MAX_LOGO_BYTES, readLinkPages } from '#lib/upload-links/link-pages.ts'
import { currentActor } from '../../../session.ts'
import { LinkPagesForm } from './form.tsx'
import { HostPanel } from './host-panel.tsx'

export const metadata = { title: 'Link pages' }

export default async function LinkPagesSettings() {
  const { workspaceId } = await currentActor('see')
  const runtime = getRuntime()
  const [pages, host] = await Promise.all([
    readLinkPages(runtime, workspaceId),
    readLinkHost(runtime, workspaceId),
  ])
  return (
    <>
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
      <HostPanel {...host} />
    </>
  )
}
