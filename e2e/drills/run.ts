import { seconds } from '#lib/platform/kernel/clock.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { BALANCERS, findBalancer } from '../../test/support/shipped-balancer.ts'
import { type OutageName, runDrill } from './drill.ts'
import { openStage, type Stage } from './stage.ts'
import { uploadByTusJs, uploadByUppy } from './upload-by.ts'

/**
 * `npm run drill`: runs full-length outages during uploads with tus-js-client and Uppy, through nginx and HAProxy with
 * the configurations in deploy/. No upload may start over, and every object must equal its source. This takes a quarter
 * of an hour.
 */
const MiB = 1024 * 1024
const UPLOADS = 5
const UPLOAD_BYTES = 50 * MiB
const BYTES_PER_SECOND = 2 * MiB
const OUTAGES: [OutageName, forMs: number][] = [
  ['database down', seconds(30)],
  ['both upload nodes down', seconds(10)],
  ['rolling restart', seconds(5)],
  ['bucket down', seconds(25)],
]
const CLIENTS = { 'tus-js-client': uploadByTusJs, Uppy: uploadByUppy }

async function drill(stage: Stage, outage: OutageName, forMs: number, only?: string): Promise<boolean> {
  let well = true
  for (const [client, upload] of Object.entries(CLIENTS).filter(([name]) => !only || only === name)) {
    const options = { outage, forMs, upload, uploads: UPLOADS, uploadBytes: UPLOAD_BYTES }
    const what = `${stage.balancer.kind}, ${client}, ${outage} for ${forMs / 1000} s`
    try {
      const { created, whole, sentShare, seconds: took } = await runDrill(stage, options)
      const restarted = created - UPLOADS
      const ok = restarted === 0 && whole === UPLOADS
      well &&= ok
      console.log(
        `${ok ? 'ok  ' : 'FAIL'}  ${what}: ${whole} of ${UPLOADS} arrived, ${restarted} started over, ${(sentShare * 100).toFixed(0)}% of their bytes sent, ${took.toFixed(0)} s`,
      )
    } catch (error) {
      well = false
      console.log(`FAIL  ${what}: ${error}`)
    }
  }
  return well
}

async function main(): Promise<boolean> {
  const usage = 'npm run drill [-- --balancer <name>] [--outage <name>] [--client <name>]'
  const { values } = readOptions(usage, {
    options: { balancer: { type: 'string' }, outage: { type: 'string' }, client: { type: 'string' } },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const postgres = await startPostgres()
  let well = true
  for (const balancer of BALANCERS.filter((kind) => !values.balancer || values.balancer === kind)) {
    if (!findBalancer(balancer)) {
      console.log(`skipped: ${balancer} is not installed`)
      continue
    }
    const stage = await openStage({ postgresUrl: postgres.url, balancer, bytesPerSecond: BYTES_PER_SECOND })
    for (const [outage, forMs] of OUTAGES.filter(([name]) => !values.outage || values.outage === name))
      well = (await drill(stage, outage, forMs, values.client)) && well
    await stage.close()
  }
  await postgres.stop()
  return well
}

process.exit((await main()) ? 0 : 1)
