// MQTT.js against the proxy at the port given: every QoS in every version. Prints what a subscriber got, as JSON.
import mqtt from "mqtt";

const [url, topic] = process.argv.slice(2);
const COUNT = 20;

async function exchange(protocolVersion, qos) {
  const name = `${topic}/${protocolVersion}/${qos}`;
  const options = { protocolVersion, reconnectPeriod: 0 };
  const reader = await mqtt.connectAsync(url, options);
  const writer = await mqtt.connectAsync(url, options);
  const found = [];
  const all = new Promise((resolve) => {
    reader.on("message", (at, payload, packet) => {
      const user = packet.properties?.userProperties ?? {};
      found.push([at, payload.toString(), packet.qos, { ...user }]);
      if (found.length === COUNT) resolve();
    });
  });
  const granted = await reader.subscribeAsync(`${name}/+`, { qos });
  for (let number = 0; number < COUNT; number += 1) {
    const properties = protocolVersion === 5 ? { userProperties: { site: "Brno" } } : undefined;
    await writer.publishAsync(`${name}/x`, `${number}`, { qos, properties });
  }
  await all;
  await Promise.all([reader.endAsync(), writer.endAsync()]);
  return { protocolVersion, qos, granted: granted[0].qos, found };
}

const seen = [];
for (const protocolVersion of [4, 5]) {
  for (const qos of [0, 1, 2]) seen.push(await exchange(protocolVersion, qos));
}
console.log(JSON.stringify(seen));
