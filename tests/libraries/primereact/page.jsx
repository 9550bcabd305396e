import { createRoot } from "react-dom/client";
import { PrimeReactProvider } from "@primereact/core";
import { Accordion } from "primereact/accordion";
import { Checkbox } from "primereact/checkbox";
import { Dialog } from "primereact/dialog";
import { InputNumber } from "primereact/inputnumber";
import { Listbox } from "primereact/listbox";
import { Menu } from "primereact/menu";
import { Select } from "primereact/select";
import { Slider } from "primereact/slider";
import { Tabs } from "primereact/tabs";
import { ToggleSwitch } from "primereact/toggleswitch";

const CITIES = ["Rome", "Paris", "London"].map((name) => ({ label: name, value: name.toLowerCase() }));
const BOX = { position: "relative", width: 220, height: 16, background: "#ddd", margin: 16 };

function Page() {
  return (
    <PrimeReactProvider>
      <h1>PrimeReact</h1>
      <Select.Root options={CITIES} optionLabel="label" optionValue="value" defaultValue="rome" onValueChange={({ value }) => tell("city", value)}><Select.Trigger aria-label="City"><Select.Value placeholder="Select a city" /><Select.Indicator>▾</Select.Indicator></Select.Trigger><Select.Portal><Select.Positioner><Select.Popup style={{ background: "white", border: "1px solid" }}><Select.List /></Select.Popup></Select.Positioner></Select.Portal></Select.Root>
      <Listbox.Root options={CITIES} optionLabel="label" optionValue="value" onValueChange={({ value }) => tell("listed", value)}><Listbox.List /></Listbox.Root>
      <label><Checkbox.Root onCheckedChange={({ checked }) => tell("agree", checked)}><Checkbox.Box style={{ display: "inline-block", width: 16, height: 16, border: "1px solid" }}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Box></Checkbox.Root> Agree</label>
      <label><ToggleSwitch.Root onCheckedChange={({ checked }) => tell("on", checked)}><ToggleSwitch.Control style={{ display: "inline-block", width: 32, height: 16, border: "1px solid" }}><ToggleSwitch.Handle style={{ display: "inline-block", width: 12, height: 12, background: "grey" }} /></ToggleSwitch.Control></ToggleSwitch.Root> Wi-Fi</label>
      <div style={BOX}><Slider.Root defaultValue={30} onValueChange={({ value }) => tell("amount", value)}><Slider.Track><Slider.Range /></Slider.Track><Slider.Handle aria-label="Price" style={{ position: "absolute", left: "30%", width: 16, height: 16, background: "blue" }} /></Slider.Root></div>
      <InputNumber.Root defaultValue={40} onValueChange={({ value }) => tell("number", value)}><InputNumber.Input aria-label="Amount" /><InputNumber.Decrement>−</InputNumber.Decrement><InputNumber.Increment>+</InputNumber.Increment></InputNumber.Root>
      <Tabs.Root defaultValue="0" onValueChange={({ value }) => tell("tab", value)}><Tabs.List><Tabs.Tab value="0">Header I</Tabs.Tab><Tabs.Tab value="1">Header II</Tabs.Tab></Tabs.List><Tabs.Panels><Tabs.Panel value="0">First text</Tabs.Panel><Tabs.Panel value="1">Second text</Tabs.Panel></Tabs.Panels></Tabs.Root>
      <Accordion.Root onValueChange={({ value }) => tell("accordion", value)}><Accordion.Panel value="0"><Accordion.Header><Accordion.Trigger>Section I</Accordion.Trigger></Accordion.Header><Accordion.Content>Section text</Accordion.Content></Accordion.Panel></Accordion.Root>
      <Menu.Root><Menu.Trigger>Menu</Menu.Trigger><Menu.Portal><Menu.Positioner><Menu.Popup style={{ background: "white", border: "1px solid" }}><Menu.List><Menu.Item onClick={() => tell("menu", "refresh")}>Refresh</Menu.Item></Menu.List></Menu.Popup></Menu.Positioner></Menu.Portal></Menu.Root>
      <Dialog.Root onOpenChange={({ value }) => tell("dialog", value)}><Dialog.Trigger>Show</Dialog.Trigger><Dialog.Portal><Dialog.Backdrop /><Dialog.Positioner><Dialog.Popup style={{ background: "white", border: "1px solid" }}><Dialog.Header><Dialog.Title>Edit Profile</Dialog.Title><Dialog.Close>×</Dialog.Close></Dialog.Header><Dialog.Content><label>Username <input onChange={(event) => tell("user", event.target.value)} /></label></Dialog.Content></Dialog.Popup></Dialog.Positioner></Dialog.Portal></Dialog.Root>
    </PrimeReactProvider>
  );
}

createRoot(document.getElementById("root")).render(<Page />);
