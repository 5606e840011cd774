import { createLog, type Log } from '../../chaos/log.ts'
import { type HeldUpload, resumeUpload } from './held-upload.ts'
import { begin, finished, type Journey, KINDS, type Kind, untilUnderWay } from './journeys.ts'
import { judgeFiles, judgeReconciled, judgeWebhooks, type Reconciled, readFiles, untilTold } from './judge.ts'
import { openPlace, type Place } from './place.ts'

/**
 * `npm run drill -- restore`: backs up a running Sluice, deletes its database, restores the backup, and checks the
 * outcome of each upload, webhook and quota against docs/operations.md. It takes about a minute. With DATABASE_URL, it
 * uses that server.
 */
const PER_KIND = 2
type Held = Journey & HeldUpload

/** Creates multipart and single-part uploads of each kind, for both customers. */
async function eachWay<Made>(
  { customers }: Place,
  kinds: Kind[],
  make: (kind: Kind, customer: Place['customers'][number], inParts: boolean) => Promise<Made>,
): Promise<Made[]> {
  const all: Made[] = []
  for (const kind of kinds)
    for (const customer of customers)
      for (let n = 0; n < PER_KIND; n++)
        for (const inParts of [true, false]) all.push(await make(kind, customer, inParts))
  return all
}

const ofKind = <One extends Journey>(journeys: readonly One[], ...kinds: Kind[]) =>
  journeys.filter(({ kind }) => kinds.includes(kind))

/** Returns the uploads made during the backup. */
async function backUp(place: Place, log: Log): Promise<Journey[]> {
  let isOver = false
  const backup = place.command('backup', place.urls[0], place.backupFile).finally(() => {
    isOver = true
  })
  const during: Journey[] = []
  while (!isOver) during.push(await finished('during', place.customers[0]!, false))
  log.note((await backup).trim())
  return during
}

/** Everything that happens before the database is lost. */
async function live(place: Place, log: Log): Promise<{ journeys: Journey[]; since: string }> {
  const sluice = await place.start(place.urls[0])
  const done = await eachWay(place, ['before', 'unheard'], finished)
  const held: Held[] = await eachWay(place, ['open', 'since', 'lost'], begin)
  await untilUnderWay(place, held)
  log.note(`${done.length} uploads are finished, ${held.length} in progress; the backup starts`)
  const since = new Date().toISOString()
  const during = await backUp(place, log)
  for (const one of ofKind(held, 'since', 'lost')) {
    const status = await one.finish()
    if (status !== 204) log.violation(`finishing ${one.name} returned ${status}`)
  }
  const fresh = await eachWay(place, ['new'], finished)
  const journeys = [...done, ...held, ...during, ...fresh]
  const heard = journeys.filter(({ kind }) => kind !== 'open' && kind !== 'unheard')
  await place.hears(heard.map(({ fileId }) => fileId))
  await sluice.kill()
  for (const one of ofKind(held, 'open')) one.abandon()
  log.note(
    `killed, with ${heard.length} uploads finished and reported, ${ofKind(held, 'open').length} in progress`,
  )
  return { journeys, since }
}

async function comeBack(journeys: readonly Journey[], log: Log): Promise<void> {
  for (const journey of journeys) {
    const { customer, kind, name, inParts } = journey
    const wentOn = await resumeUpload(customer, journey)
    const isUnknown = kind === 'since' && inParts && customer.keys === 'PutObject only'
    if (wentOn !== (kind !== 'new' && !isUnknown))
      log.violation(`${name} ${wentOn ? 'continued' : 'started over'} (${KINDS[kind]})`)
  }
}

async function drill(place: Place, log: Log): Promise<void> {
  const { journeys, since } = await live(place, log)
  log.note((await place.command('restore', place.urls[1], place.backupFile)).trim())
  place.receiver.answerWith(204)
  const restored = place.openRestored()
  const sluice = await place.start(place.urls[1])
  const { db } = restored
  try {
    await comeBack(ofKind(journeys, 'open', 'since'), log)
    const known = await readFiles(db)
    const reconciled = await place.command('reconcile', place.urls[1], '--since', since)
    judgeReconciled(JSON.parse(reconciled) as Reconciled, { db: known, journeys, log })
    await comeBack(ofKind(journeys, 'new'), log)
    await untilTold(db)
    await judgeFiles(db, journeys, log)
    judgeWebhooks(place, journeys, log)
  } finally {
    await sluice.stop()
    await restored.close()
  }
}

async function main(): Promise<boolean> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const log = createLog(console.log)
  const place = await openPlace()
  await drill(place, log)
  await place.close()
  for (const [what, count] of Object.entries(log.counts)) console.log(`${String(count).padStart(6)}  ${what}`)
  console.log(log.violations.length === 0 ? 'no violations' : `${log.violations.length} violations`)
  return log.violations.length === 0
}

process.exit((await main()) ? 0 : 1)
