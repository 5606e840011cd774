import { existsSync } from 'node:fs'
import { type Config, loadConfig } from '../lib/platform/settings/config.ts'

/** The settings that `npm start` has, for a command beside it. */
export function loadSettings(): Config {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return loadConfig()
}
