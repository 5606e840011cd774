'use server'

import { saveAlertSettings } from '#lib/workspace/notices/alerts.ts'
import { act } from '../../../actions/act.ts'

export async function saveAlerts(_previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    await saveAlertSettings(runtime, actor, data.getAll('wanted').map(String))
    return { message: 'Saved.' }
  })
}
