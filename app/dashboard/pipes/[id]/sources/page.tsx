import { clientAddress } from '#lib/folders/client-address.ts'
import { readHostKey } from '#lib/sftp/read-host-key.ts'
import { readStates } from '#lib/workspace/data-stores/read-data-stores.ts'
import { titledByPipe } from '../../../title-of.ts'
import { isBlocked } from '../../pipe-state.tsx'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { FtpSources } from './ftp-panels.tsx'
import { HttpSource, SftpSource, UrlSource } from './panels.tsx'

export const generateMetadata = titledByPipe('Sources')

export default async function Sources(props: PipeProps) {
  const { runtime, pipe } = await currentPipe(props, 'see')
  const { uploadUrl, sftpPort, ftp } = runtime.config
  const dataStoreIds = pipe.destinations.map(({ dataStoreId }) => dataStoreId)
  const blocked = isBlocked({ pipe, states: await readStates(runtime.db, dataStoreIds) })
  return (
    <div className="max-w-3xl space-y-3">
      <HttpSource pipe={pipe} blocked={blocked} />
      <UrlSource pipe={pipe} blocked={blocked} />
      <SftpSource
        pipe={pipe}
        address={clientAddress({ uploadUrl }, sftpPort)}
        hostKey={await readHostKey(runtime.db)}
      />
      <FtpSources pipe={pipe} address={clientAddress({ uploadUrl }, ftp?.port)} plain={ftp?.plain} />
    </div>
  )
}
