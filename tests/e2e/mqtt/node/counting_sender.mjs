// Publishes 0, 1, 2... at QoS 2 with a session, and says how many were sent and acknowledged. Ends after a line on stdin.
import { createInterface } from "node:readline";
import mqtt from "mqtt";

const [url, topic, outstandingMax] = process.argv.slice(2);
const client = mqtt.connect(url, {
  clientId: "sender",
  clean: false,
  reconnectPeriod: 1000,
  // What it has not brought to its end is sent again, from the step it had reached.
  resubscribe: false,
});
let sent = 0;
let acknowledged = 0;
let stopping = false;
client.on("error", () => {});
const timer = setInterval(() => {
  if (!stopping && client.connected && sent - acknowledged < Number(outstandingMax)) {
    const number = sent;
    sent += 1;
    client.publish(topic, `${number}`, { qos: 2 }, (error) => {
      if (error) console.error(`${number}: ${error}`);
      acknowledged += 1;
    });
  }
  if (stopping && acknowledged >= sent) {
    clearInterval(timer);
    client.end(false, {}, () => {
      console.log(sent);
      process.exit(0);
    });
  }
}, 5);
createInterface({ input: process.stdin }).on("line", () => {
  stopping = true;
});
