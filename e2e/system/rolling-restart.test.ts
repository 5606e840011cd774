/** @module-tag long */
import { expect, inject, it } from 'vitest'
import { randomOf } from '../../test/support/random.ts'
import { createLog } from '../chaos/log.ts'
import { judge, uploadMany } from '../chaos/run.ts'
import { openWorld } from '../chaos/world.ts'

it('restarting every node under load fails no upload and loses no event', async () => {
  const random = randomOf('rolling restart')
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  const log = createLog(say)
  const world = await openWorld({ postgresUrl: inject('postgresUrl') }, random.fork('world'), log)
  try {
    let overAt = Number.POSITIVE_INFINITY
    const uploading = uploadMany(world, random, log, { overForMs: () => Date.now() - overAt })
    for (const node of world.nodes) {
      log.note(`restart ${node.name}`)
      expect(await node.stop(), node.output()).toBe(0)
      await node.start()
    }
    overAt = Date.now()
    world.receiver.calm()
    await judge(world, log, await uploading, say)
    expect(log.violations, lines.join('\n')).toEqual([])
    expect(log.counts['files transferred']).toBeGreaterThan(0)
  } finally {
    await world.close()
  }
}, 400_000)
