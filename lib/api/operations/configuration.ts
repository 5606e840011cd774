import {
  configurationLockAnswer,
  configurationLockInput,
  lockConfiguration,
  unlockConfiguration,
} from '../../workspace/configuration-lock.ts'
import {
  alertSettingsAnswer,
  alertSettingsChanges,
  changeAlertSettings,
  readAlertSettings,
} from '../../workspace/notices/alerts.ts'
import { operation } from '../operation.ts'

const tag = 'Configuration'

export const configurationOperations = [
  operation({
    id: 'showAlertSettings',
    right: 'see',
    method: 'GET',
    path: '/alert-settings',
    tag,
    summary: 'Show which alerts the members get by mail and as notices.',
    status: 200,
    answer: alertSettingsAnswer,
    run: ({ runtime, who }) => readAlertSettings(runtime, who),
  }),
  operation({
    id: 'changeAlertSettings',
    right: 'build',
    method: 'PATCH',
    path: '/alert-settings',
    tag,
    summary: 'Change which alerts the members get. What is left out stays as it is.',
    body: alertSettingsChanges,
    status: 200,
    answer: alertSettingsAnswer,
    run: ({ runtime, who, body }) => changeAlertSettings(runtime, who, body),
  }),
  operation({
    id: 'lockConfiguration',
    right: 'build',
    method: 'PUT',
    path: '/configuration-lock',
    tag,
    summary:
      'Take or renew the lock that `sluice apply` holds while it changes a workspace. It ends a minute after its last renewal.',
    body: configurationLockInput,
    status: 200,
    answer: configurationLockAnswer,
    problems: ['conflict'],
    run: ({ runtime, who, body }) => lockConfiguration(runtime, who, body),
  }),
  operation({
    id: 'unlockConfiguration',
    right: 'build',
    method: 'POST',
    path: '/configuration-lock/release',
    tag,
    summary: 'Release the lock before it ends by itself.',
    body: configurationLockInput,
    status: 204,
    problems: ['conflict'],
    run: ({ runtime, who, body }) => unlockConfiguration(runtime, who, body),
  }),
]
