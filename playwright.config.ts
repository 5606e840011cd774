import { defineConfig } from 'playwright/test'
import { findChromium } from './test/support/chromium.ts'

/** The browser tests: one built server with the embedded defaults, and a real Chromium. */
export default defineConfig({
  testDir: 'e2e/browser',
  globalSetup: './test/support/browser-setup.ts',
  outputDir: 'test-results',
  timeout: 60_000,
  expect: { timeout: 15_000 },
  forbidOnly: true,
  fullyParallel: true,
  workers: 3,
  retries: 0,
  use: {
    launchOptions: await findChromium(),
    viewport: { width: 1280, height: 900 },
    actionTimeout: 15_000,
    screenshot: 'only-on-failure',
    // Colors are undefined during a transition between modes.
    contextOptions: { reducedMotion: 'reduce' },
  },
})
