import { createApp } from "vue";
import PrimeVue from "primevue/config";
import Aura from "@primeuix/themes/aura";
import ConfirmationService from "primevue/confirmationservice";
import ToastService from "primevue/toastservice";
import AutoComplete from "primevue/autocomplete";
import Accordion from "primevue/accordion";
import AccordionContent from "primevue/accordioncontent";
import AccordionHeader from "primevue/accordionheader";
import AccordionPanel from "primevue/accordionpanel";
import Button from "primevue/button";
import Checkbox from "primevue/checkbox";
import Column from "primevue/column";
import ConfirmDialog from "primevue/confirmdialog";
import DataTable from "primevue/datatable";
import DatePicker from "primevue/datepicker";
import Dialog from "primevue/dialog";
import InputNumber from "primevue/inputnumber";
import InputText from "primevue/inputtext";
import Knob from "primevue/knob";
import Listbox from "primevue/listbox";
import Menu from "primevue/menu";
import Menubar from "primevue/menubar";
import MultiSelect from "primevue/multiselect";
import RadioButton from "primevue/radiobutton";
import Rating from "primevue/rating";
import Select from "primevue/select";
import SelectButton from "primevue/selectbutton";
import Slider from "primevue/slider";
import Tab from "primevue/tab";
import TabList from "primevue/tablist";
import TabPanel from "primevue/tabpanel";
import TabPanels from "primevue/tabpanels";
import Tabs from "primevue/tabs";
import Toast from "primevue/toast";
import ToggleSwitch from "primevue/toggleswitch";
import Tree from "primevue/tree";

const components = { AutoComplete, Accordion, AccordionContent, AccordionHeader, AccordionPanel, Button, Checkbox, Column, ConfirmDialog, DataTable, DatePicker, Dialog, InputNumber, InputText, Knob, Listbox, Menu, Menubar, MultiSelect, RadioButton, Rating, Select, SelectButton, Slider, Tab, TabList, TabPanel, TabPanels, Tabs, Toast, ToggleSwitch, Tree };

const App = {
  components,
  data: () => ({ tell: window.tell, city: "Rome", cities: ["Rome", "Paris", "London"], many: ["Paris"], found: [], country: "", day: new Date(2026, 3, 17), number: 40, agree: false, on: false, pizza: "", stars: 1, amount: 30, payment: "Off", open: false, rows: [{ code: "f230", name: "Bamboo Watch", price: 65 }, { code: "nvk", name: "Black Watch", price: 72 }, { code: "zz2", name: "Blue Band", price: 79 }], chosen: [], nodes: [{ key: "0", label: "Documents", children: [{ key: "0-0", label: "Work" }] }], picked: null, listed: null,
    menu: [{ label: "File", items: [{ label: "New", items: [{ label: "Bookmark", command: () => window.tell("bar", "bookmark") }] }] }, { label: "Quit", command: () => window.tell("bar", "quit") }], popup: [{ label: "Options", items: [{ label: "Refresh", command: () => window.tell("popup", "refresh") }] }] }),
  methods: {
    search(event) { this.found = ["Germany", "Ghana", "Greece"].filter((each) => each.toLowerCase().startsWith(event.query.toLowerCase())); },
    notify() { this.$toast.add({ severity: "info", summary: "Info", detail: "Message Content" }); },
    ask() { this.$confirm.require({ message: "Are you sure you want to proceed?", header: "Confirmation", accept: () => window.tell("confirmed", true) }); },
  },
  template: `<h1>PrimeVue</h1>
    <Select v-model="city" :options="cities" placeholder="Select a City" aria-label="City" @change="tell('city', $event.value)" />
    <MultiSelect v-model="many" :options="cities" filter display="chip" placeholder="Select Cities" aria-label="Cities" @change="tell('many', $event.value)" />
    <AutoComplete v-model="country" :suggestions="found" @complete="search" placeholder="Country" @option-select="tell('country', $event.value)" />
    <DatePicker v-model="day" showIcon inputId="day" aria-label="Day" dateFormat="yy-mm-dd" @value-change="tell('day', $event?.getDate())" />
    <label for="n">Amount</label><InputNumber v-model="number" inputId="n" showButtons @value-change="tell('number', $event)" />
    <Checkbox v-model="agree" inputId="agree" binary @value-change="tell('agree', $event)" /><label for="agree">Agree</label>
    <ToggleSwitch v-model="on" aria-label="Wi-Fi" @value-change="tell('on', $event)" />
    <RadioButton v-model="pizza" inputId="p1" name="pizza" value="Cheese" @value-change="tell('pizza', $event)" /><label for="p1">Cheese</label><RadioButton v-model="pizza" inputId="p2" name="pizza" value="Mushroom" @value-change="tell('pizza', $event)" /><label for="p2">Mushroom</label>
    <Rating v-model="stars" @value-change="tell('stars', $event)" />
    <div style="width:200px;margin:16px"><Slider v-model="amount" aria-label="Price" @value-change="tell('amount', $event)" /></div>
    <SelectButton v-model="payment" :options="['Off', 'On']" aria-label="Switch" @value-change="tell('payment', $event)" />
    <Listbox v-model="listed" :options="cities" listStyle="max-height:250px" @value-change="tell('listed', $event)" />
    <Menubar :model="menu" /><Button label="Menu" @click="$refs.popup.toggle($event)" aria-haspopup="true" /><Menu ref="popup" :model="popup" popup />
    <Button label="Show" @click="open = true" /><Dialog v-model:visible="open" modal header="Edit Profile"><label for="user">Username</label><InputText id="user" @value-change="tell('user', $event)" /><Button label="Save" @click="open = false; tell('saved', true)" /></Dialog>
    <Button label="Toast" @click="notify" /><Toast /><Button label="Confirm" @click="ask" /><ConfirmDialog />
    <Tabs value="0" @update:value="tell('tab', $event)"><TabList><Tab value="0">Header I</Tab><Tab value="1">Header II</Tab></TabList><TabPanels><TabPanel value="0">First text</TabPanel><TabPanel value="1">Second text</TabPanel></TabPanels></Tabs>
    <Accordion @update:value="tell('accordion', $event)"><AccordionPanel value="0"><AccordionHeader>Section I</AccordionHeader><AccordionContent>Section text</AccordionContent></AccordionPanel></Accordion>
    <DataTable v-model:selection="chosen" :value="rows" dataKey="code" paginator :rows="2" @update:selection="tell('rows', $event.map((each) => each.code))" @sort="tell('sorted', $event.sortField)" @page="tell('page', $event.page)"><Column selectionMode="multiple" /><Column field="name" header="Name" sortable /><Column field="price" header="Price" sortable /></DataTable>
    <Tree :value="nodes" selectionMode="single" @node-select="tell('node', $event.key)" />`,
};

createApp(App).use(PrimeVue, { theme: { preset: Aura } }).use(ToastService).use(ConfirmationService).mount("#root");
